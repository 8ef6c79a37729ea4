/** Text that is HTML already; only `html` makes it. */
export interface SafeHtml {
  readonly safe: string;
}

export type HtmlValue = string | number | SafeHtml | readonly SafeHtml[];

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
  return { safe };
}

/** The indentation of the source has no place in a page of 50,000 rows; a line end means the same as any white space. */
function compact(part: string): string {
  return part.replaceAll(/\s*\n\s*/gu, '\n');
}

function render(value: HtmlValue): string {
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  if ('safe' in value) return value.safe;
  return value.map(({ safe }) => safe).join('');
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (sign) => ENTITIES[sign] ?? sign);
}
