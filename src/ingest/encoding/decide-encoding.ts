import iconv from 'iconv-lite';
import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { FaultAt, Refusal, note } from '../findings.ts';
import type { FileScan } from './scan-file.ts';

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

/** Names that iconv accepts but that are not encodings of text, or not of a file. */
const NO_FILE_ENCODINGS: ReadonlySet<string> = new Set(
  'base64 hex binary utf-7 utf7 utf-7-imap utf7imap utf-16 utf16 utf-32 utf32 internal'.split(' '),
);

const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['utf8', 'utf-8'],
  ['utf16le', 'utf-16le'],
  ['utf16be', 'utf-16be'],
]);

/** Declared, byte order mark, strict UTF-8, likely encoding, windows-1252 with a finding. @throws Refusal, FaultAt */
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
  if (scan.nulAt === null && scan.utf8.invalidAt === null) return decision('utf-8', 'proved');
  if (likely !== undefined) return declaredEncoding(scan, likely, bom);
  if (scan.nulAt !== null) throw nulAt(scan.nulAt);
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
  if (scan.nulAt !== null) throw nulAt(scan.nulAt);
  if (scan.utf8.invalidAt === null) return;
  const what = scan.utf8.cutShort
    ? 'its end inside a character: the file was cut short'
    : 'a byte that cannot be UTF-8, in a text that is UTF-8 elsewhere';
  const message = `Expected UTF-8 throughout, found ${what}. Export the file again, or ${lower(DECLARE)}`;
  throw new FaultAt('encoding-damaged', message, scan.utf8.invalidAt);
}

/** Well-formed UTF-8 is UTF-8: in another encoding, every accented letter would be two wrong ones. */
function requireNoUtf8(scan: FileScan, encoding: string): void {
  if (scan.nulAt !== null || scan.utf8.invalidAt !== null || !scan.utf8.multibyte) return;
  const message = `The file was declared as ${encoding}, but all its bytes are well-formed UTF-8, accents too. Leave the declaration out (--encoding, or in the profile), or correct it`;
  throw new Refusal('encoding-contradicted', message);
}

function nulAt(offset: number): FaultAt {
  const message =
    'Expected text, found a NUL byte: this is a binary file, a damaged one, or UTF-16 without a byte order mark. Export it again as CSV or JSON in UTF-8, or declare --encoding utf-16le';
  return new FaultAt('binary', message, offset);
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
