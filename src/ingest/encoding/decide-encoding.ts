import iconv from 'iconv-lite';
import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { IngestOptions } from '../ingest-result.ts';
import { FaultAt, Refusal, note } from '../findings.ts';
import type { FileScan } from './scan-file.ts';
import { LineCount } from '../line-count.ts';

/** The encoding of a file, and how Lote determined it. */
export interface EncodingDecision {
  /** `utf-8`, `utf-16le`, `utf-16be`, or a name that iconv knows. */
  readonly encoding: string;
  readonly bom: boolean;
  readonly how: 'declared' | 'bom' | 'proved' | 'assumed';
  readonly samples: readonly string[];
  readonly findings: readonly Finding[];
}

const DECLARE = 'Declare the encoding of the file (for example --encoding cp850), or save it as UTF-8';

const NUL =
  'found a NUL (U+0000): this is a binary file, a damaged one, or UTF-16 without a byte order mark. Export it again as CSV or JSON in UTF-8, or declare --encoding utf-16le';

/** Names that iconv accepts but that are not encodings of text, or not of a file. */
const NO_FILE_ENCODINGS: ReadonlySet<string> = new Set(
  'base64 hex binary utf-7 utf7 utf-7-imap utf7imap utf-16 utf16 utf-32 utf32 internal'.split(' '),
);

const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['utf8', 'utf-8'],
  ['utf16le', 'utf-16le'],
  ['utf16be', 'utf-16be'],
]);

/** Decides by the first that applies: declared, byte order mark, strict UTF-8, likely encoding, windows-1252 with a finding. @throws Refusal, FaultAt */
export function decideEncoding(
  scan: FileScan,
  { encoding: declared, likelyEncoding: likely }: Pick<IngestOptions, 'encoding' | 'likelyEncoding'> = {},
): EncodingDecision {
  const bom = bomOf(scan.head);
  if (declared !== undefined) return declaredEncoding(scan, declared, bom);
  if (bom === 'utf-32') {
    const message = 'Expected UTF-8, UTF-16 or windows-1252, found UTF-32. Save the file as UTF-8';
    throw new Refusal('encoding-unsupported', message);
  }
  if (bom === 'utf-8') requireUtf8(scan);
  if (bom !== null) return decision(bom, 'bom', { bom: true });
  const isUtf8 = scan.utf8.invalidAt === null;
  if (isUtf8 && !scan.hasNul) return decision('utf-8', 'proved');
  if (likely !== undefined) return declaredEncoding(scan, likely, bom);
  // The reading names the line of the NUL.
  if (isUtf8) return decision('utf-8', 'proved');
  if (scan.hasNul) throw new Refusal('binary', `Expected text, ${NUL}`);
  if (scan.utf8.multibyte) requireUtf8(scan);
  return windows1252(scan);
}

function decision(
  encoding: string,
  how: EncodingDecision['how'],
  more: { bom?: boolean; samples?: readonly string[]; findings?: readonly Finding[] } = {},
): EncodingDecision {
  return { encoding, how, bom: more.bom ?? false, samples: more.samples ?? [], findings: more.findings ?? [] };
}

function bomOf(head: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32' | null {
  const hex = head.subarray(0, 4).toString('hex');
  if (hex.startsWith('efbbbf')) return 'utf-8';
  if (hex === 'fffe0000' || hex === '0000feff') return 'utf-32';
  if (hex.startsWith('fffe')) return 'utf-16le';
  return hex.startsWith('feff') ? 'utf-16be' : null;
}

/** Returns the name of a declared encoding as a proof writes it: `UTF8` becomes `utf-8`. */
function encodingName(declared: string): string {
  const plain = declared.toLowerCase().replace(/[\s_]/g, '-');
  return SPELLINGS.get(plain) ?? plain;
}

/** True for two names of one encoding, such as `latin1` and `iso-8859-1`, but not `windows-1252`. */
export function isSameEncoding(one: string, other: string): boolean {
  const [name, otherName] = [encodingName(one), encodingName(other)];
  if (name === otherName) return true;
  return (
    [name, otherName].every((known) => iconv.encodingExists(known)) &&
    iconv.getCodec(name) === iconv.getCodec(otherName)
  );
}

function declaredEncoding(scan: FileScan, declared: string, bom: ReturnType<typeof bomOf>): EncodingDecision {
  const encoding = encodingName(declared);
  if (NO_FILE_ENCODINGS.has(encoding) || !iconv.encodingExists(encoding)) {
    const message = `Reading with a declared encoding: expected a name such as utf-8, utf-16le, windows-1252 or cp850, found "${declared}"`;
    throw new LoteError('usage', message);
  }
  if (bom !== null && bom !== encoding) {
    const message = `The file was declared as ${encoding}, but its first bytes are the byte order mark of ${bom}. Leave the declaration out, or correct it`;
    throw new Refusal('encoding-contradicted', message);
  }
  if (encoding === 'utf-8') requireUtf8(scan);
  else if (!encoding.startsWith('utf-')) requireNoUtf8(scan, encoding);
  return decision(encoding, 'declared', { bom: bom !== null });
}

function requireUtf8(scan: FileScan): void {
  if (scan.utf8.invalidAt === null) return;
  const what = scan.utf8.cutShort
    ? 'its end inside a character: the file was cut short'
    : 'a byte that cannot be UTF-8, in a text that is UTF-8 elsewhere';
  const message = `Expected UTF-8 throughout, found ${what}. Export the file again, or ${lower(DECLARE)}`;
  throw new FaultAt('encoding-damaged', message, scan.utf8.invalidAt);
}

/** Well-formed UTF-8 is UTF-8: in another encoding, every accented letter would be two wrong ones. */
function requireNoUtf8(scan: FileScan, encoding: string): void {
  if (scan.hasNul || scan.utf8.invalidAt !== null || !scan.utf8.multibyte) return;
  const message = `The file was declared as ${encoding}, but all its bytes are well-formed UTF-8, accents too. Leave the declaration out (--encoding, or in the profile), or correct it`;
  throw new Refusal('encoding-contradicted', message);
}

function windows1252(scan: FileScan): EncodingDecision {
  const { samples, implausible } = scan.singleByte;
  if (implausible.length > 0) {
    const message = `The file is not UTF-8, and windows-1252 would read ${quoted(implausible)}, which is hardly meant. ${DECLARE}`;
    throw new Refusal('encoding-unproved', message);
  }
  const message = `The file is not UTF-8 and was read as windows-1252: ${quoted(samples)}. If these words are wrong, ${lower(DECLARE)}`;
  return decision('windows-1252', 'assumed', { samples, findings: [note('warning', 'encoding-assumed', message)] });
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ');
}

function lower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

const LOST = '\u{fffd}';
const MARK = Buffer.from('\u{feff}');

/** Streams the file's text as UTF-8 without byte order mark. @throws Refusal for bytes and signs that no text has */
export async function* decodeChunks(
  chunks: AsyncIterable<Buffer>,
  { encoding, bom }: Pick<EncodingDecision, 'encoding' | 'bom'>,
): AsyncGenerator<Uint8Array> {
  const lines = new LineCount();
  const decoder = encoding === 'utf-8' ? null : decoderOf(encoding);
  const bytesOf = (text: string): Buffer => {
    const lost = text.indexOf(LOST);
    if (lost < 0) return Buffer.from(text);
    const line = lines.before(Buffer.from(text.slice(0, lost)));
    const message = `Line ${line}: expected ${encoding} throughout, found bytes that it does not know, or half of a character. Declare the encoding of the file, save it as UTF-8, or export it again if it was cut short`;
    throw new Refusal('encoding-damaged', message, { row: line });
  };
  let isBeginning = bom;
  for await (const chunk of chunks) {
    let text = decoder === null ? chunk : bytesOf(decoder.write(chunk));
    // Some programs write two marks.
    while (isBeginning && MARK.equals(text.subarray(0, MARK.length))) text = text.subarray(MARK.length);
    if (text.length === 0) continue;
    isBeginning = false;
    // Checks the decoded text: UTF-16 has NUL bytes, but PostgreSQL cannot store a NUL character.
    if (text.includes(0)) {
      const line = lines.before(text.subarray(0, text.indexOf(0)));
      throw new Refusal('binary', `Line ${line}: expected text, ${NUL}`, { row: line });
    }
    if (text.includes(MARK)) {
      const line = lines.before(text.subarray(0, text.indexOf(MARK)));
      const message = `Line ${line}: expected one file, found a byte order mark (U+FEFF) in the middle, with which another file begins. If two were joined, drop each of them alone; otherwise remove this invisible character`;
      throw new Refusal('byte-order-mark-inside', message, { row: line });
    }
    lines.add(text);
    yield text;
  }
  const rest = bytesOf(decoder?.end() ?? '');
  if (rest.length > 0) yield rest;
}

interface Decoder {
  write(chunk: Buffer): string;
  end(): string | undefined;
}

/** Decodes bytes that the encoding does not know as U+FFFD; iconv would pass on half of a surrogate pair of UTF-16. */
function decoderOf(encoding: string): Decoder {
  if (!encoding.startsWith('utf-16')) return iconv.getDecoder(encoding, { stripBOM: false });
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  return { write: (chunk) => decoder.decode(chunk, { stream: true }), end: () => decoder.decode() };
}

/** Returns the beginning of a file as UTF-8: the first piece only, because the head may end inside a character. */
export async function decodedHead(scan: FileScan, encoding: EncodingDecision): Promise<Uint8Array> {
  async function* once() {
    yield scan.head;
  }
  for await (const piece of decodeChunks(once(), encoding)) return piece;
  return new Uint8Array(0);
}
