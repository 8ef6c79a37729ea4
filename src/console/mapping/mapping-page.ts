import { html } from 'hono/html';
import { findingsTable } from '../pages/batch-tables.ts';
import { baseName, netTable, tone, verdict } from '../pages/check-page.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import type { KeptMapping, MappedFile, MappingChoices } from './file-mapper.ts';
import { columnTable, constantFields, dialectFields, taxFields } from './mapping-form.ts';

/** Enough to see what is wrong; the page of the check has them all. */
const MOST_FINDINGS = 20;

/** What the page shows, and of what. */
export interface MappingPage {
  /** Relative to the input directory. */
  readonly file: string;
  readonly choices: MappingChoices;
  /** Null: the file is no table. */
  readonly mapped: MappedFile | null;
  /** What somebody wrote as the name; left out: the one that the file suggests. */
  readonly name?: string;
  /** Why nothing was saved; null: nobody tried. */
  readonly refused: Exclude<KeptMapping, 'saved'> | null;
}

/**
 * Maps the columns of a file by choosing. All choices stand in the page's address, so that the browser's way back undoes them, and the page
 * needs no script.
 */
export function mappingPage(format: PageFormat, page: MappingPage): Html {
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
      ${dialectFields(format, mapped, choices)} ${columnTable(format, mapped)}
      ${constantFields(format, mapped, choices)} ${taxFields(format, mapped)}
      <p>
        <button>${mapping.preview}</button>
        <a href="/mapping?${new URLSearchParams({ file }).toString()}">${mapping.again}</a>
      </p>
      ${result(format, mapped)} ${saveFields(format, page, mapped)}
    </form>`;
}

function result(format: PageFormat, { check, missing, twice }: MappedFile): Html {
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
    ${check.findings.length === 0 ? '' : findingsTable(format, check.findings.slice(0, MOST_FINDINGS), dryRun.findings)}`;
}

function saveFields(format: PageFormat, { name }: MappingPage, mapped: MappedFile): Html {
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
