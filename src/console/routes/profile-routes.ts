import { Hono } from 'hono';
import type { Context } from 'hono';
import { z } from 'zod';
import type { ConsoleOptions } from '../console-options.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { actorOf, mayOperate } from '../people/caller.ts';
import { checkedCopyPage } from '../pages/profile/checked-copy-page.ts';
import { LONGEST_NAME } from '../pages/profile/copy-form.ts';
import { profilePage } from '../pages/profile/profile-page.ts';
import { type CheckedCopy, type KeepRefusal, PROFILE_AUDIT, type ProfileEditor } from '../profile-editor.ts';
import { formOf } from './file-routes.ts';

/** Also a part of a path: nothing of it leads anywhere. */
const Name = z
  .string()
  .trim()
  .transform((name) => name.replace(/\.json$/iu, ''))
  .pipe(
    z
      .string()
      .max(LONGEST_NAME)
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/u),
  );

const CopyFields = z.object({
  // Browsers send line ends as in HTTP; a file has those of the text.
  profile: z.string().transform((text) => text.replaceAll(/\r\n?/gu, '\n')),
  name: z.string().max(1_000).catch(''),
  acceptsLess: z.literal('yes').optional().catch(undefined),
});

type Copy = z.infer<typeof CopyFields>;

const FALLBACK_NAME = 'service-profile';

/** The service profile in force, and copies of it: edited, checked, downloaded and kept as files. It is never changed here. */
export function profileRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger, serviceProfile, profileEditor: editor } = options;
  const routes = new Hono();

  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const saved = Name.safeParse(context.req.query('saved'));
    const content = profilePage(format, {
      baseUrl: typeof serviceProfile?.['baseUrl'] === 'string' ? serviceProfile['baseUrl'] : null,
      sections: editor?.sections() ?? [],
      copy: mayOperate(context) ? (editor?.copy() ?? null) : null,
      misfits: (await options.misfits?.()) ?? [],
      recorded: (await editor?.recorded()) ?? null,
      saved: saved.success ? ((await editor?.kept(saved.data)) ?? null) : null,
      audit: await ledger.auditOf(PROFILE_AUDIT),
    });
    return pages.show(context, { title: format.texts.profile, content });
  });
  if (editor !== undefined) copyRoutes(routes, editor, pages);
  return routes;
}

function copyRoutes(routes: Hono, editor: ProfileEditor, pages: PageAnswers): void {
  const { keep } = editor;
  const show = (context: Context, copy: Copy, checked: CheckedCopy, refused: KeepRefusal | null = null) => {
    const format = pages.formatOf(context);
    const name = copy.name === '' ? FALLBACK_NAME : copy.name.slice(0, LONGEST_NAME);
    const content = checkedCopyPage(format, {
      ...{ text: copy.profile, checked, refused },
      keep: { name, here: keep !== undefined },
    });
    const title = format.texts.profilePage.checkTitle;
    return pages.show(context, { title, content, ...(refused === null ? {} : { status: 400 }) });
  };

  routes.post('/check', async (context) => {
    const copy = await copyOf(context);
    return copy === null ? context.redirect('/profile', 303) : show(context, copy, await editor.check(copy.profile));
  });

  routes.post('/download', async (context) => {
    const copy = await copyOf(context);
    if (copy === null) return context.redirect('/profile', 303);
    const checked = await editor.check(copy.profile);
    const name = Name.safeParse(copy.name);
    const refused = refusalOf(copy, checked) ?? (name.success ? null : 'name');
    if (refused !== null || !name.success) return show(context, copy, checked, refused);
    return context.body(copy.profile, 200, {
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="${name.data}.json"`,
    });
  });

  if (keep === undefined) return;
  routes.post('/save', async (context) => {
    const copy = await copyOf(context);
    if (copy === null) return context.redirect('/profile', 303);
    const name = Name.safeParse(copy.name);
    if (!name.success) return show(context, copy, await editor.check(copy.profile), 'name');
    const acceptsLess = copy.acceptsLess === 'yes';
    const answer = await keep({ name: name.data, text: copy.profile, acceptsLess, by: actorOf(context) });
    if (answer.how === 'refused') return show(context, copy, answer.checked, answer.why);
    return context.redirect(`/profile?${new URLSearchParams({ saved: name.data }).toString()}`, 303);
  });
}

/** Null: the request carries no copy. */
async function copyOf(context: Context): Promise<Copy | null> {
  const fields = CopyFields.safeParse(await formOf(context));
  return fields.success ? fields.data : null;
}

/** Why a copy must not leave the page as a file; null: it may. */
function refusalOf({ acceptsLess }: Copy, { mistakes, replay }: CheckedCopy): KeepRefusal | null {
  if (mistakes.length > 0) return 'mistakes';
  return replay?.understandsLess === true && acceptsLess !== 'yes' ? 'understands-less' : null;
}
