import { Hono, type Context } from 'hono';
import { z } from 'zod';
import type { PageAnswers, PageFormat } from '../http/page-answers.ts';
import { actorOf, mayOperate } from '../http/people.ts';
import type { FileMapper, KeptMapping, MappedFile, MappingChoices, MappedColumn } from '../console-options.ts';
import { readChoices, DELIMITERS } from './mapping-choices.ts';
import { html, type Row, type SafeHtml, table } from '../../texts/html.ts';
import { field, firstFindings, select, writtenAs } from '../pages/page-parts.ts';
import { baseName, formOf, netTable, tone, verdict } from '../routes/file-routes.ts';
import { COLUMNS } from '../../domain/row.ts';
import { fill } from '../../texts/fill.ts';
import { markName } from '../../texts/outcomes/outcome-html.ts';

const File = z.string().min(1).max(1_000);
const SaveForm = z.object({ file: File, name: z.string().max(200).catch('') });

/** Lets a person map the columns of a file by choosing; Lote keeps the mapping only when it is saved under a name. */
export function mappingRoutes(mapper: FileMapper, pages: PageAnswers): Hono {
  const routes = new Hono();

  routes.get('/mapping', async (context) => {
    // Requires the same role as a check, because the page leads to a profile and a start.
    if (!mayOperate(context)) return pages.roleMissing(context);
    const fields = context.req.query();
    const file = File.safeParse(fields['file']);
    if (!file.success) return pages.notFound(context);
    return show(context, { file: file.data, choices: readChoices(fields), refused: null });
  });

  routes.post('/mapping', async (context) => {
    const fields = await formOf(context);
    const form = SaveForm.safeParse(fields);
    if (!form.success) return pages.notFound(context);
    const { file, name } = form.data;
    const choices = readChoices(fields);
    const kept = await mapper.save({ file, name, choices, by: actorOf(context) });
    if (kept !== 'saved') return show(context, { file, name, choices, refused: kept });
    return context.redirect(`/check?${new URLSearchParams({ file, profile: name }).toString()}`, 303);
  });

  return routes;

  async function show(context: Context, page: MappingPage): Promise<Response> {
    const mapped = await mapper.view(page.file, page.choices);
    const format = pages.formatOf(context);
    const { title } = format.texts.mapping;
    const content = mappingPage(format, page, mapped);
    return pages.show(context, { title, content, status: page.refused === null ? 200 : 400 });
  }
}

/** Enough findings to see the problem; the page of the check has all of them. */
const MOST_FINDINGS = 20;

interface MappingPage {
  readonly file: string;
  readonly choices: MappingChoices;
  /** The name that a person wrote. Optional: the default is the name that the file suggests. */
  readonly name?: string;
  /** Why Lote saved nothing; null if the person did not try to save. */
  readonly refused: Exclude<KeptMapping, 'saved'> | null;
}

/** Renders the page that maps the columns of a file by choosing. Its address contains all choices, so that the browser's way back undoes them. */
function mappingPage(format: PageFormat, page: MappingPage, mapped: MappedFile | null): SafeHtml {
  const { mapping } = format.texts;
  const { file, choices, refused } = page;
  const title = html`<h1>${mapping.title} ${baseName(file)}</h1>`;
  if (mapped === null) return html`${title}<p>${mapping.noTable}</p>`;
  const rows = mapped.columns.map((column, at) => columnRow(format, column, at));
  return html`${title}
    <p class="soft">${mapping.note}</p>
    ${refused === null ? '' : html`<p class="done" role="alert">${mapping.kept[refused]}</p>`}
    <form action="/mapping" class="fields">
      <input type="hidden" name="file" value="${file}" />
      <input type="hidden" name="header" value="${mapped.headerId}" />
      ${dialectFields(format, mapped, choices)} ${lookList(format, mapped)}
      ${table(mapping.column, [{ row: mapping.column }, { text: mapping.samples }, mapping.meaning], rows)} ${kindFields(format, mapped)} ${constantFields(format, mapped, choices)} ${taxFields(format, mapped)}
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
    ${field(mapping.name, 'name', name ?? mapped.suggestedName, 64)}
    <p class="soft">${mapping.saveNote}</p>
    <button class="main" formaction="/mapping" formmethod="post">${mapping.save}</button>
  </fieldset>`;
}

function dialectFields(format: PageFormat, mapped: MappedFile, choices: MappingChoices): SafeHtml {
  const { mapping, proof } = format.texts;
  const { dialect, sheets, sheet } = mapped;
  const delimiters = DELIMITERS.map((one) => [one, markName(proof, one === 'tab' ? '\t' : one)] as const);
  const named = sheets.map((name) => [name, name] as const);
  const chosen = dialect?.delimiter === '\t' ? 'tab' : dialect?.delimiter;
  return html`<fieldset class="row">
    ${dialect === null ? '' : html`<legend>${mapping.text}</legend>${writtenAs(format, 'encoding', choices.encoding)}`}
    ${dialect === null ? '' : select({ name: 'delimiter', label: mapping.delimiter, chosen, choices: delimiters })}
    ${sheets.length < 2 ? '' : select({ name: 'sheet', label: mapping.sheet, chosen: sheet ?? undefined, choices: named })}
    ${writtenAs(format, 'decimal', choices.decimal)}
  </fieldset>`;
}

function columnRow({ texts: { mapping } }: PageFormat, column: MappedColumn, at: number): Row {
  const { header, samples, meaning, isOpen } = column;
  const option = (value: string, text: string): SafeHtml =>
    html`<option value="${value}" ${value === meaning ? 'selected' : ''}>${text}</option>`;
  const choice = html`<select name="m${at}" aria-label="${fill(mapping.meaningOf, { column: header })}">
    ${option('none', mapping.none)} ${COLUMNS.map((one) => option(one, mapping.meanings[one]))}
    ${option('reference-part', mapping.referencePart)} ${option('kind', mapping.kind)}
  </select>`;
  const fixed = COLUMNS.find((one) => one === meaning);
  return [
    ...[header === '' ? mapping.unnamed : header, samples.join(' · ')],
    isOpen ? choice : fixed === undefined ? mapping.none : mapping.meanings[fixed],
  ];
}

/** Renders fields for each column that says which rows are invoices: its values for rows to skip, and for invoices. */
function kindFields({ texts: { mapping } }: PageFormat, { columns }: MappedFile): SafeHtml {
  return html`${columns.map(({ header, kind }, at) =>
    kind === null
      ? ''
      : html`<fieldset>
          <legend>${mapping.kind}</legend>
          ${field(fill(mapping.skipped, { column: header }), `skip${at}`, kind.skip.join(', '), 1_000)}
          ${field(fill(mapping.invoices, { column: header }), `invoices${at}`, kind.invoices.join(', '), 1_000)}
        </fieldset>`,
  )}`;
}

function constantFields({ texts: { mapping } }: PageFormat, mapped: MappedFile, choices: MappingChoices): SafeHtml {
  const given = mapped.open.filter((column) => column !== 'invoice_ref');
  const hasParts = mapped.columns.some(({ meaning }) => meaning === 'reference-part');
  return html`${hasParts ? field(mapping.separator, 'separator', mapped.separator, 5) : ''}
  ${
    given.length === 0
      ? ''
      : html`<details ${given.some((column) => mapped.missing.includes(column) || choices.constants[column] !== undefined) ? 'open' : ''}>
          <summary>${mapping.every}</summary>
          ${given.map((column) => field(mapping.meanings[column], `every-${column}`, choices.constants[column] ?? ''))}
        </details>`
  }`;
}

function taxFields({ texts: { mapping } }: PageFormat, { taxWords }: MappedFile): SafeHtml {
  const at = taxWords.length;
  return html`<details ${taxWords.length === 0 ? '' : 'open'}>
    <summary>${mapping.taxes}</summary>
    <p class="soft">${mapping.taxesNote}</p>
    ${taxWords.map(
      ({ word, code }, place) =>
        html`<input type="hidden" name="word${place}" value="${word}" />${field(fill(mapping.taxOf, { word }), `code${place}`, code)}`,
    )}
    ${field(mapping.taxWord, `word${at}`, '')} ${field(mapping.taxCode, `code${at}`, '')}
  </details>`;
}

function lookList({ texts: { mapping } }: PageFormat, { looks }: MappedFile): SafeHtml {
  if (looks.length === 0) return html``;
  return html`<section class="verdict open" aria-labelledby="looks">
    <h2 id="looks">${mapping.look}</h2>
    <ul>
      ${looks.map(({ code, header, other }) => html`<li>${fill(mapping.looks[code], { header, other })}</li>`)}
    </ul>
  </section>`;
}
