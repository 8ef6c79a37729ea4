/** Text that is HTML already. It is a class, so that an object from a file cannot pass for it. */
export class SafeHtml {
  readonly #safe: string;

  constructor(safe: string) {
    this.#safe = safe;
  }

  get safe(): string {
    return this.#safe;
  }
}

/** Values that a template of HTML accepts. */
export type HtmlValue = string | number | SafeHtml | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Template of HTML that escapes every value, unless the value comes from this template itself. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): SafeHtml {
  let safe = compact(parts[0] ?? '');
  for (const [index, value] of values.entries()) safe += render(value) + compact(parts[index + 1] ?? '');
  return new SafeHtml(safe);
}

/** Removes the indentation of the source, which would enlarge a page of 50,000 rows; HTML treats a line end as white space. */
function compact(part: string): string {
  return part.replaceAll(/\s*\n\s*/gu, '\n');
}

function render(value: HtmlValue): string {
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  if (value instanceof SafeHtml) return value.safe;
  // A file may hold a value that the types exclude; the page leaves it out.
  return Array.isArray(value) ? value.map((one: HtmlValue) => render(one)).join('') : '';
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (sign) => ENTITIES[sign] ?? sign);
}

/** The heading of a column. An object with one member also names the kind of the cells: numbers stand on the right, a `row` cell names its row. */
export type Column = string | { readonly [Kind in 'number' | 'text' | 'time' | 'mono' | 'value' | 'row']?: string };

/** Cells in the order of the columns, or a row that is HTML already. */
export type Row = readonly HtmlValue[] | SafeHtml;

/** Returns a table that scrolls on its own on a narrow screen. `label` names it to a screen reader. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly Row[],
  foot: readonly Row[] = [],
): SafeHtml {
  const written = (all: readonly Row[]) => all.map((row) => (row instanceof SafeHtml ? row : tableRow(columns, row)));
  const end = foot.length === 0 ? '' : html`<tfoot>${written(foot)}</tfoot>`;
  return html`${tableStart(label, columns)}${written(rows)}</tbody>${end}</table></div>`;
}

/** Returns the start of a table that is written row by row; `</tbody></table></div>` ends it. */
export function tableStart(label: string, columns: readonly Column[]): SafeHtml {
  const head = columns
    .map(kindAndName)
    .map(([kind, name]) => html`<th scope="col"${kind === 'number' ? html` class="number"` : ''}>${name}</th>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${head}</tr></thead><tbody>`;
}

function tableRow(columns: readonly Column[], cells: readonly HtmlValue[]): SafeHtml {
  const written = cells.map((cell, at) => {
    const [kind] = kindAndName(columns[at] ?? '');
    if (kind === 'row') return html`<th scope="row">${cell}</th>`;
    return kind === '' ? html`<td>${cell}</td>` : html`<td class="${kind}">${cell}</td>`;
  });
  return html`<tr>${written}</tr>
`;
}

function kindAndName(column: Column): readonly [kind: string, name: string] {
  return typeof column === 'string' ? ['', column] : (Object.entries(column)[0] ?? ['', '']);
}

/** Returns names with their values; leaves out a null value. */
export function facts(lines: readonly (readonly [name: HtmlValue, value: HtmlValue | null])[]): SafeHtml {
  return html`<dl>
    ${lines.map(([name, value]) =>
      value === null
        ? ''
        : html`<dt>${name}</dt>
            <dd>${value}</dd>`,
    )}
  </dl>`;
}
