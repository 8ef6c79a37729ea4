import { Hono, type Context } from 'hono';
import { z } from 'zod';
import type { PageAnswers } from '../http/page-answers.ts';
import { actorOf, mayOperate } from '../people/caller.ts';
import { formOf } from '../routes/file-routes.ts';
import type { FileMapper } from './file-mapper.ts';
import { readChoices } from './mapping-choices.ts';
import { mappingPage, type MappingPage } from './mapping-page.ts';

const File = z.string().min(1).max(1_000);
const SaveForm = z.object({ file: File, name: z.string().max(200).catch('') });

/** The columns of a file are mapped by choosing; nothing is kept before it is saved under a name. */
export function mappingRoutes(mapper: FileMapper, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/mapping', async (context) => {
    // As with a check: it leads to a profile and a start.
    if (!mayOperate(context)) return pages.roleMissing(context);
    const fields = context.req.query();
    const file = File.safeParse(fields['file']);
    if (!file.success) return pages.notFound(context);
    return show(context, { file: file.data, fields, refused: null });
  });

  routes.post('/mapping', async (context) => {
    const fields = await formOf(context);
    const form = SaveForm.safeParse(fields);
    if (!form.success) return pages.notFound(context);
    const { file, name } = form.data;
    const kept = await mapper.save({ file, name, choices: readChoices(fields), by: actorOf(context) });
    if (kept !== 'saved') return show(context, { file, name, fields, refused: kept });
    return context.redirect(`/check?${new URLSearchParams({ file, profile: name }).toString()}`, 303);
  });

  return routes;

  async function show(
    context: Context,
    given: Pick<MappingPage, 'file' | 'name' | 'refused'> & { readonly fields: Readonly<Record<string, unknown>> },
  ): Promise<Response> {
    const { fields, ...page } = given;
    const choices = readChoices(fields);
    const mapped = await mapper.view(page.file, choices);
    const format = pages.formatOf(context);
    const content = mappingPage(format, { ...page, choices, mapped });
    return pages.show(context, {
      title: format.texts.mapping.title,
      content,
      ...(page.refused === null ? {} : { status: 400 }),
    });
  }
}
