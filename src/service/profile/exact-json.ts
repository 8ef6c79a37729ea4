import { isUtf8 } from 'node:buffer';

const LONG_INTEGER = /\d{16}/;
/**
 * Matches texts first, so that digits inside texts stay unchanged. An unterminated text matches up to the end of the
 * input: otherwise the expression would try each quote in it as a beginning, for minutes.
 */
const TOKENS = /"(?:[^"\\]|\\.)*"?|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs;

/**
 * Parses JSON. A whole number that a double cannot hold becomes a text of its digits: an id of 18 digits would
 * otherwise become another id.
 * @throws SyntaxError if the text is not JSON.
 */
export function parseExactJson(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  return JSON.parse(LONG_INTEGER.test(text) ? text.replace(TOKENS, quoted) : text, reviver) as unknown;
}

function quoted(token: string): string {
  return token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`;
}

/** Some services write several. */
const BYTE_ORDER_MARKS = /^\uFEFF+/;

/** Decodes UTF-8 and drops byte order marks; null if the bytes are not UTF-8. */
export function textOf(raw: Uint8Array): string | null {
  if (!isUtf8(raw)) return null;
  const { buffer, byteOffset, byteLength } = raw;
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8').replace(BYTE_ORDER_MARKS, '');
}
