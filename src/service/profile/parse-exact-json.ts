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
