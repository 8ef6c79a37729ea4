/** References of printable ASCII with single spaces: nearly all of them, and each is shown as it is. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
/** Shown as nothing: zero-width and direction marks, soft hyphen, variation selectors. */
const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const SPACES = /\p{White_Space}+/gu;
/** Hyphens, figure dash, en dash and minus: one stroke in most fonts. The em dash is longer, and stays. */
const HYPHENS = /[\u2010-\u2013\u2212]/g;
/** Of any script: a spreadsheet writes the numbers that it takes them for with those of ASCII. */
const DIGITS = /[^\P{Nd}0-9]/gu;
/** What a spreadsheet drops when it takes a reference for a number, and a person when they write it. */
const LEADING_ZEROS = /(?<![0-9])0+(?=[0-9])/g;
/** A number at whose end it drops zeros, after they were dropped. */
const DECIMAL = /^\d+[.,]\d*[1-9]$/;
/** What it takes for a number, and may write out. */
const SCIENTIFIC = /^(\d+)E(\d{1,2})$/i;
/** Longer numbers it writes as powers of ten, which are no references. */
const LONGEST_WRITTEN_OUT = 15;

/**
 * What a person sees of a reference or a tax number, without the leading zeros of its digits (`FT 007` is `FT 7`), and with
 * `1E5` as `100000`: two references of one merchant with the same skeleton cannot be told apart, or one may have become the
 * other. Unicode forms of one letter, spaces, hyphens and widths are one; what shows nothing is left out. Letters that can
 * be told apart stay apart: case, accents, and letters of other alphabets, but not their digits.
 */
export function skeletonOf(ref: string): string {
  // Never issued, and a cell may have a million characters.
  if (ref.length > LONGEST_REFERENCE) return ref;
  return writtenOut(withoutZeros(seenSpelling(ref)));
}

function withoutZeros(text: string): string {
  return text.includes('0') ? text.replace(LEADING_ZEROS, '') : text;
}

function writtenOut(seen: string): string {
  const [, digits, power] = SCIENTIFIC.exec(seen) ?? [];
  if (digits === undefined || power === undefined) return seen;
  const number = withoutZeros(digits + '0'.repeat(Number(power)));
  return number.length > LONGEST_WRITTEN_OUT ? seen : number;
}

/**
 * The references of which a spreadsheet makes this one by dropping zeros at its end: `1.1` may have been `1.10`. They have no skeleton in common, because
 * `1.1` and `1.10` are two references wherever people count in that way; there `1.1` comes first.
 */
export function withDroppedZeros(ref: string): readonly string[] {
  return DECIMAL.test(ref) ? [`${ref}0`, `${ref}00`] : [];
}

function seenSpelling(ref: string): string {
  if (PLAIN.test(ref)) return ref;
  return ref
    .replaceAll(IGNORABLE, '')
    .normalize('NFKC')
    .replaceAll(IGNORABLE, '')
    .replaceAll(SPACES, ' ')
    .trim()
    .replaceAll(HYPHENS, '-')
    .replaceAll(DIGITS, asciiDigit);
}

/** The digits of a script stand in order from its zero, and scripts in tens beside each other. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}

/** A reference with the code of each character that a person cannot see in it: `FT<U+00A0>2`. */
export function shownSpelling(ref: string): string {
  if (PLAIN.test(ref)) return ref;
  return ref.replaceAll(
    /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\u2010-\u2013\u2212\uff01-\uff5e]|[^\P{Nd}0-9]|(?! )\p{White_Space}/gu,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}

interface Spelled {
  readonly nif: string;
  readonly ref: string;
}

/**
 * The same for all rows of a file that may be of one invoice: their references look alike, and so do their tax numbers. JSON
 * keeps ("1","23") and ("12","3") apart.
 */
export function groupKeyOf({ nif, ref }: Spelled): string {
  return JSON.stringify([skeletonOf(nif), skeletonOf(ref)]);
}

/** Rows that look as if they were of one invoice, by their exact tax number and reference, in the order of the first row of each. */
export function bySpelling<Row extends Spelled>(group: readonly Row[]): readonly (readonly Row[])[] {
  const [first] = group;
  if (group.every(({ nif, ref }) => nif === first?.nif && ref === first.ref)) return [group];
  const spellings = new Map<string, Row[]>();
  for (const row of group) {
    const key = JSON.stringify([row.nif, row.ref]);
    const rows = spellings.get(key);
    if (rows === undefined) spellings.set(key, [row]);
    else rows.push(row);
  }
  return [...spellings.values()];
}

/** In UTF-16 units: at most 600 bytes. An index of PostgreSQL takes no more than 2,704 bytes, and a longer reference is no reference. */
export const LONGEST_REFERENCE = 200;

const HALF_PAIR = /\p{Surrogate}$/u;

/** What is shown and kept of the reference of an invalid invoice: its beginning, where the whole is too long to be a reference. */
export function fittingReference(ref: string): string {
  if (ref.length <= LONGEST_REFERENCE) return ref;
  return `${ref.slice(0, LONGEST_REFERENCE - 1).replace(HALF_PAIR, '')}…`;
}
