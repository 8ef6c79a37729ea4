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

/** Heading of a column; `number` puts a column of numbers on the right. */
export type Head = string | { readonly number: string };

/** Returns a table that scrolls on its own on a narrow screen. `label` names it to a screen reader. */
export function table(
  label: string,
  heads: readonly Head[],
  rows: HtmlValue,
  { kind = '', foot = '' }: { readonly kind?: string; readonly foot?: HtmlValue } = {},
): SafeHtml {
  return html`${tableStart(label, heads, kind)}${rows}</tbody>${foot}</table></div>`;
}

/** Returns the start of a table that is written row by row; `</tbody></table></div>` ends it. */
export function tableStart(label: string, heads: readonly Head[], kind = ''): SafeHtml {
  const head = heads.map((name) =>
    typeof name === 'string'
      ? html`<th scope="col">${name}</th>`
      : html`<th scope="col" class="number">${name.number}</th>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="${kind}"><thead><tr>${head}</tr></thead><tbody>`;
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
