import { html, table, type SafeHtml } from '../../texts/html.ts';
import { COLUMNS } from '../../domain/row.ts';
import { select, writtenAs } from '../forms/forms.ts';
import type { PageFormat } from '../pages/page-format.ts';
import { fill } from '../../texts/fill.ts';
import { markName } from '../../texts/outcomes/proof-lines.ts';
import type { MappedColumn, MappedFile, MappingChoices } from './file-mapper.ts';
import { DELIMITERS } from './mapping-choices.ts';

/** How the text is told apart, or which sheet is read. */
export function dialectFields(format: PageFormat, mapped: MappedFile, choices: MappingChoices): SafeHtml {
  const { mapping, proof } = format.texts;
  const decimal = writtenAs(format, 'decimal', choices.decimal);
  if (mapped.dialect === null) {
    const sheets = mapped.sheets.map((name) => [name, name] as const);
    return html`<fieldset class="row">
      ${sheets.length < 2 ? '' : select({ name: 'sheet', label: mapping.sheet, chosen: mapped.sheet ?? undefined, choices: sheets })}
      ${decimal}
    </fieldset>`;
  }
  return html`<fieldset class="row">
    <legend>${mapping.text}</legend>
    ${writtenAs(format, 'encoding', choices.encoding)}
    ${select({
      ...{ name: 'delimiter', label: mapping.delimiter },
      chosen: mapped.dialect.delimiter === '\t' ? 'tab' : mapped.dialect.delimiter,
      choices: DELIMITERS.map((one) => [one, markName(proof, one === 'tab' ? '\t' : one)] as const),
    })}
    ${decimal}
  </fieldset>`;
}

/** A row for each column of the file: its name, its first values, and the choice of what it means. */
export function columnTable(format: PageFormat, mapped: MappedFile): SafeHtml {
  const { mapping } = format.texts;
  const rows = mapped.columns.map((column, at) => columnRow(format, column, at));
  return table(mapping.column, [mapping.column, mapping.samples, mapping.meaning], rows, { kind: 'mapping' });
}

function columnRow({ texts: { mapping } }: PageFormat, column: MappedColumn, at: number): SafeHtml {
  const { header, samples, meaning, isOpen } = column;
  const option = (value: string, text: string): SafeHtml =>
    html`<option value="${value}" ${value === meaning ? 'selected' : ''}>${text}</option>`;
  const choice = html`<select name="m${at}" aria-label="${fill(mapping.meaningOf, { column: header })}">
    ${option('none', mapping.none)} ${COLUMNS.map((one) => option(one, mapping.meanings[one]))}
    ${option('reference-part', mapping.referencePart)} ${option('kind', mapping.kind)}
  </select>`;
  const fixed = COLUMNS.find((one) => one === meaning);
  return html`<tr>
    <th scope="row">${header === '' ? mapping.unnamed : header}</th>
    <td class="text">${samples.join(' · ')}</td>
    <td>${isOpen ? choice : fixed === undefined ? mapping.none : mapping.meanings[fixed]}</td>
  </tr>`;
}

/** For each column that says which rows are invoices: its values that are none, and those that are. */
export function kindFields({ texts: { mapping } }: PageFormat, { columns }: MappedFile): SafeHtml {
  return html`${columns.map(({ header, kind }, at) =>
    kind === null
      ? ''
      : html`<fieldset>
          <legend>${mapping.kind}</legend>
          <label
            >${fill(mapping.skipped, { column: header })}
            <input name="skip${at}" maxlength="1000" value="${kind.skip.join(', ')}"
          /></label>
          <label
            >${fill(mapping.invoices, { column: header })}
            <input name="invoices${at}" maxlength="1000" value="${kind.invoices.join(', ')}"
          /></label>
        </fieldset>`,
  )}`;
}

/** Values for what the file has no column for, and the sign between the parts of a reference. */
export function constantFields(
  { texts: { mapping } }: PageFormat,
  mapped: MappedFile,
  choices: MappingChoices,
): SafeHtml {
  const given = mapped.open.filter((column) => column !== 'invoice_ref');
  const hasParts = mapped.columns.some(({ meaning }) => meaning === 'reference-part');
  return html`${
    hasParts
      ? html`<label>${mapping.separator} <input name="separator" size="3" maxlength="5" value="${mapped.separator}" /></label>`
      : ''
  }
  ${
    given.length === 0
      ? ''
      : html`<details ${given.some((column) => mapped.missing.includes(column) || choices.constants[column] !== undefined) ? 'open' : ''}>
          <summary>${mapping.every}</summary>
          <p class="soft">${mapping.everyNote}</p>
          ${given.map(
            (column) =>
              html`<label
                >${mapping.meanings[column]}
                <input name="every-${column}" maxlength="200" value="${choices.constants[column] ?? ''}"
              /></label>`,
          )}
        </details>`
  }`;
}

/** The code of the service for each word of the tax column that is none, and room for one more that comes further down. */
export function taxFields({ texts: { mapping } }: PageFormat, { taxWords }: MappedFile): SafeHtml {
  const at = taxWords.length;
  return html`<details ${taxWords.length === 0 ? '' : 'open'}>
    <summary>${mapping.taxes}</summary>
    <p class="soft">${mapping.taxesNote}</p>
    ${taxWords.map(
      ({ word, code }, place) =>
        html`<input type="hidden" name="word${place}" value="${word}" /><label
            >${fill(mapping.taxOf, { word })} <input name="code${place}" maxlength="200" value="${code}"
          /></label>`,
    )}
    <label>${mapping.taxWord} <input name="word${at}" maxlength="200" /></label>
    <label>${mapping.taxCode} <input name="code${at}" maxlength="200" /></label>
  </details>`;
}

/** What deserves a look before the mapping is saved. */
export function lookList({ texts: { mapping } }: PageFormat, { looks }: MappedFile): SafeHtml {
  if (looks.length === 0) return html``;
  return html`<section class="verdict open" aria-labelledby="looks">
    <h2 id="looks">${mapping.look}</h2>
    <ul>
      ${looks.map(({ code, header, other }) => html`<li>${fill(mapping.looks[code], { header, other })}</li>`)}
    </ul>
  </section>`;
}
