import { html } from 'hono/html';
import { COLUMNS } from '../../domain/row.ts';
import { ENCODINGS } from '../forms/declared.ts';
import { select } from '../forms/select.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { fill } from '../../texts/fill.ts';
import type { MappedColumn, MappedFile, MappingChoices } from './file-mapper.ts';
import { DELIMITERS } from './mapping-choices.ts';

/** How the text is told apart, or which sheet is read. */
export function dialectFields({ texts }: PageFormat, mapped: MappedFile, choices: MappingChoices): Html {
  const { mapping, dryRun } = texts;
  const decimal = select({
    ...{ name: 'decimal', label: dryRun.decimal, chosen: choices.decimal, none: dryRun.prove },
    choices: [
      [',', dryRun.comma],
      ['.', dryRun.point],
    ],
  });
  if (mapped.dialect === null) {
    const sheets = mapped.sheets.map((name) => [name, name] as const);
    return html`<fieldset class="row">
      ${sheets.length < 2 ? '' : select({ name: 'sheet', label: mapping.sheet, chosen: mapped.sheet ?? undefined, choices: sheets })}
      ${decimal}
    </fieldset>`;
  }
  return html`<fieldset class="row">
    <legend>${mapping.text}</legend>
    ${select({
      ...{ name: 'encoding', label: dryRun.encoding, chosen: choices.encoding, none: dryRun.prove },
      choices: ENCODINGS.map((encoding) => [encoding, encoding] as const),
    })}
    ${select({
      ...{ name: 'delimiter', label: mapping.delimiter },
      chosen: mapped.dialect.delimiter === '\t' ? 'tab' : mapped.dialect.delimiter,
      choices: DELIMITERS.map((one) => [one, mapping.delimiters[one]] as const),
    })}
    ${decimal}
  </fieldset>`;
}

/** A row for each column of the file: its name, its first values, and the choice of what it means. */
export function columnTable(format: PageFormat, mapped: MappedFile): Html {
  const { mapping } = format.texts;
  return html`<div class="scroll">
    <table class="mapping">
      <thead>
        <tr>
          <th scope="col">${mapping.column}</th>
          <th scope="col">${mapping.samples}</th>
          <th scope="col">${mapping.meaning}</th>
        </tr>
      </thead>
      <tbody>
        ${mapped.columns.map((column, at) => columnRow(format, column, at))}
      </tbody>
    </table>
  </div>`;
}

function columnRow({ texts: { mapping } }: PageFormat, { header, samples, meaning }: MappedColumn, at: number): Html {
  const option = (value: string, text: string): Html =>
    html`<option value="${value}" ${value === meaning ? 'selected' : ''}>${text}</option>`;
  const choice = html`<select name="m${at}" aria-label="${fill(mapping.meaningOf, { column: header })}">
    ${option('none', mapping.none)} ${COLUMNS.map((column) => option(column, mapping.meanings[column]))}
    ${option('reference-part', mapping.referencePart)}
  </select>`;
  return html`<tr>
    <th scope="row">${header === '' ? mapping.unnamed : header}</th>
    <td class="text">${samples.join(' · ')}</td>
    <td>${header === '' ? mapping.none : choice}</td>
  </tr>`;
}

/** Values for what the file has no column for, and the sign between the parts of a reference. */
export function constantFields({ texts: { mapping } }: PageFormat, mapped: MappedFile, choices: MappingChoices): Html {
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
export function taxFields({ texts: { mapping } }: PageFormat, { taxWords }: MappedFile): Html {
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
