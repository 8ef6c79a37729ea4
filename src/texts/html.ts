/** Text that is HTML already. A class, because an object that was read from a file must not pass for it. */
export class SafeHtml {
  readonly #safe: string;

  constructor(safe: string) {
    this.#safe = safe;
  }

  get safe(): string {
    return this.#safe;
  }
}

/** What a template of HTML takes. */
export type HtmlValue = string | number | SafeHtml | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Template of HTML: every value is escaped unless it came from this template itself. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): SafeHtml {
  let safe = compact(parts[0] ?? '');
  for (const [index, value] of values.entries()) safe += render(value) + compact(parts[index + 1] ?? '');
  return new SafeHtml(safe);
}

/** The indentation of the source has no place in a page of 50,000 rows; a line end means the same as any white space. */
function compact(part: string): string {
  return part.replaceAll(/\s*\n\s*/gu, '\n');
}

function render(value: HtmlValue): string {
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  if (value instanceof SafeHtml) return value.safe;
  // Whatever the types say, a file may hold something else: it is left out.
  return Array.isArray(value) ? value.map((one: HtmlValue) => render(one)).join('') : '';
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (sign) => ENTITIES[sign] ?? sign);
}

/** Heading of a column; of one with numbers, which stand at its right. */
export type Head = string | { readonly number: string };

/** A table that scrolls by itself on a narrow screen. `label` names it to a screen reader. */
export function table(
  label: string,
  heads: readonly Head[],
  rows: HtmlValue,
  { kind = '', foot = '' }: { readonly kind?: string; readonly foot?: HtmlValue } = {},
): SafeHtml {
  return html`${tableStart(label, heads, kind)}${rows}</tbody>${foot}</table></div>`;
}

/** Everything of a table before its first row; `</tbody></table></div>` ends it. For tables that are written row by row. */
export function tableStart(label: string, heads: readonly Head[], kind = ''): SafeHtml {
  const head = heads.map((name) =>
    typeof name === 'string'
      ? html`<th scope="col">${name}</th>`
      : html`<th scope="col" class="number">${name.number}</th>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="${kind}"><thead><tr>${head}</tr></thead><tbody>`;
}

/** Names with their values; one without a value (null) is left out. */
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
