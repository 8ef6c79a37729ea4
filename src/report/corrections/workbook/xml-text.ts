/** Characters that XML cannot hold, and a line end that its readers would change. */
const NOT_IN_XML = /[^\P{Cc}\t\n]|[\uFFFE\uFFFF]|\p{Surrogate}/gu;
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;
const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text of a cell or a note: what XML cannot hold is written as XLSX does (`_x000D_`), and what looks like that stays a text. */
export function cellText(text: string): string {
  return xmlText(
    text
      .replace(LOOKS_ESCAPED, '_x005F_')
      .replace(NOT_IN_XML, (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`),
  );
}

/** Text of XML without those characters, also of an attribute. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => MARKUP[sign] ?? '').replace(NOT_IN_XML, '');
}

/** The beginning of a long text, with a sign that there is more. */
export function clipped(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
