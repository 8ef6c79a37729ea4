import { Hono, type Context } from 'hono';
import { z } from 'zod';
import type { PageAnswers } from '../http/page-answers.ts';
import { actorOf, mayOperate } from '../people/caller.ts';
import { formOf } from '../routes/file-routes.ts';
import type { FileMapper, KeptMapping, MappedFile, MappingChoices } from './file-mapper.ts';
import { readChoices } from './mapping-choices.ts';
import { html, type SafeHtml } from '../../texts/html.ts';
import { firstFindings } from '../pages/notes.ts';
import { baseName, netTable, tone, verdict } from '../pages/check-page.ts';
import type { PageFormat } from '../pages/page-format.ts';
import { columnTable, constantFields, dialectFields, kindFields, lookList, taxFields } from './mapping-form.ts';

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
      status: page.refused === null ? 200 : 400,
    });
  }
}

/** Enough to see what is wrong; the page of the check has them all. */
const MOST_FINDINGS = 20;

/** What the page shows, and of what. */
interface MappingPage {
  /** Relative to the input directory. */
  readonly file: string;
  readonly choices: MappingChoices;
  /** Null: the file is no table. */
  readonly mapped: MappedFile | null;
  /** The name that a person wrote; left out: the one that the file suggests. */
  readonly name?: string;
  /** Why nothing was saved; null: it was not tried. */
  readonly refused: Exclude<KeptMapping, 'saved'> | null;
}

/**
 * Maps the columns of a file by choosing. All choices stand in the page's address, so that the browser's way back undoes them, and the page
 * needs no script.
 */
function mappingPage(format: PageFormat, page: MappingPage): SafeHtml {
  const { mapping } = format.texts;
  const { file, mapped, choices, refused } = page;
  const title = html`<h1>${mapping.title} ${baseName(file)}</h1>`;
  if (mapped === null) return html`${title}<p>${mapping.noTable}</p>`;
  return html`${title}
    <p class="soft">${mapping.note}</p>
    ${refused === null ? '' : html`<p class="done" role="alert">${mapping.kept[refused]}</p>`}
    <form action="/mapping" class="fields">
      <input type="hidden" name="file" value="${file}" />
      <input type="hidden" name="header" value="${mapped.headerId}" />
      ${dialectFields(format, mapped, choices)} ${lookList(format, mapped)}
      ${columnTable(format, mapped)} ${kindFields(format, mapped)} ${constantFields(format, mapped, choices)} ${taxFields(format, mapped)}
      <p>
        <button>${mapping.preview}</button>
        <a href="/mapping?${new URLSearchParams({ file }).toString()}">${mapping.again}</a>
      </p>
      ${result(format, mapped)} ${saveFields(format, page, mapped)}
    </form>`;
}

function result(format: PageFormat, { check, missing, twice }: MappedFile): SafeHtml {
  const { mapping, dryRun } = format.texts;
  const named = (columns: MappedFile['missing']): string => columns.map((one) => mapping.meanings[one]).join(', ');
  if (check === null)
    return html`<section class="verdict open" aria-labelledby="result">
      <h2 id="result">${mapping.result}</h2>
      ${missing.length === 0 ? '' : html`<p>${mapping.missing} <strong>${named(missing)}</strong></p>`}
      ${twice.length === 0 ? '' : html`<p>${mapping.twice} <strong>${named(twice)}</strong></p>`}
    </section>`;
  return html`<section class="verdict ${tone(check)}" aria-labelledby="result">
      <h2 id="result">${mapping.result}</h2>
      <p class="big"><strong>${verdict(format, check)}</strong></p>
    </section>
    ${check.refused ? '' : netTable(format, check)}
    ${firstFindings(format, check.findings.slice(0, MOST_FINDINGS), dryRun.findings)}`;
}

function saveFields(format: PageFormat, { name }: MappingPage, mapped: MappedFile): SafeHtml {
  const { mapping } = format.texts;
  if (mapped.check === null || mapped.check.refused) return html``;
  return html`<fieldset class="card">
    <label
      >${mapping.name}
      <input name="name" maxlength="64" value="${name ?? mapped.suggestedName}"
    /></label>
    <p class="soft">${mapping.saveNote}</p>
    <button class="main" formaction="${format.action('/mapping')}" formmethod="post">${mapping.save}</button>
  </fieldset>`;
}
