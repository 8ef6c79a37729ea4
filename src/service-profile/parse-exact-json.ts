import { isUtf8 } from 'node:buffer';

const LONG_INTEGER = /\d{16}/;
/** Texts are matched first, so that digits inside them are left alone. */
const TOKENS = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs;

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

/** Of the UTF-8 of a file or message; it is no part of what follows it. */
const BYTE_ORDER_MARK = 0xfe_ff;

/** The text of UTF-8; null: it is none. A decoder made for each message would cost more than all else that is done with it. */
export function utf8Text(bytes: Uint8Array): string | null {
  if (!isUtf8(bytes)) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
