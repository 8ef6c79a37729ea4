const LONG_INTEGER = /\d{16}/;
/**
 * Texts are matched first, so that digits inside them are left alone. One that never ends goes to the end: else each quote in
 * it would be tried as a beginning, for minutes.
 */
const TOKENS = /"(?:[^"\\]|\\.)*"?|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs;

/**
 * The value of JSON, in which whole numbers that a double cannot hold are texts of their digits: an id of 18 digits would
 * otherwise become another one.
 * @throws SyntaxError where the text is no JSON.
 */
export function parseExactJson(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  return JSON.parse(LONG_INTEGER.test(text) ? text.replace(TOKENS, quoted) : text, reviver) as unknown;
}

function quoted(token: string): string {
  return token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`;
}

/** The decoder drops one; some services write several. */
const BYTE_ORDER_MARKS = /^\uFEFF+/;

/** The text of UTF-8 without byte order marks; null: it is none. */
export function textOf(raw: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw).replace(BYTE_ORDER_MARKS, '');
  } catch {
    return null;
  }
}
