/** Printable ASCII with single spaces. Nearly all references match, and people see them exactly as they are. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
/** Invisible characters: zero-width and direction marks, soft hyphen, variation selectors. */
const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const SPACES = /\p{White_Space}+/gu;
/** Hyphens, figure dash, en dash and minus: one stroke in most fonts. The em dash is longer, and stays. */
const HYPHENS = /[\u2010-\u2013\u2212]/g;
/** Zeros that a spreadsheet drops when it takes a reference for a number, and that people drop when they write it. */
const LEADING_ZEROS = /(?<![0-9])0+(?=[0-9])/g;
/** A decimal number whose final zeros a spreadsheet may have dropped. */
const DECIMAL = /^\d+[.,]\d*[1-9]$/;
/** Text that a spreadsheet takes for a number and may write without the exponent. */
const SCIENTIFIC = /^(\d+)E(\d{1,2})$/i;
/** A spreadsheet writes longer numbers as powers of ten, which are not references. */
const LONGEST_WRITTEN_OUT = 15;

/**
 * Returns a reference or a tax number as a person sees it, without the leading zeros of its digits (`FT 007` is `FT
 * 7`), and with `1E5` as `100000`. Two references of one merchant with the same skeleton cannot be told apart, or one
 * may have become the other. Unicode forms of one letter, spaces, hyphens and widths become the same, and invisible
 * characters are left out. Different case, accents, and letters and digits of other alphabets stay different.
 */
export function skeletonOf(ref: string): string {
  // Such a reference is never issued, and a cell may have a million characters.
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
 * Returns the references that a spreadsheet may have turned into this one by dropping final zeros: `1.1` may have been
 * `1.10`. They have no common skeleton, because `1.1` and `1.10` are two references where people count in that way.
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
    .replaceAll(HYPHENS, '-');
}

/** Returns a reference with the code of each character that a person cannot see: `FT<U+00A0>2`. */
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
 * Returns a key that is the same for all rows of a file that may belong to one invoice, because their references and
 * tax numbers look alike. JSON keeps ("1","23") and ("12","3") apart.
 */
export function groupKeyOf({ nif, ref }: Spelled): string {
  return JSON.stringify([skeletonOf(nif), skeletonOf(ref)]);
}

/** Splits rows that seem to belong to one invoice by their exact tax number and reference, in the order of the first row of each. */
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

/** In UTF-16 units, at most 600 bytes, because an index of PostgreSQL takes at most 2,704 bytes. Longer texts are not references. */
export const LONGEST_REFERENCE = 200;

const HALF_PAIR = /\p{Surrogate}$/u;

/** Returns the reference of an invalid invoice as Lote shows and stores it: only the beginning if it is too long. */
export function fittingReference(ref: string): string {
  if (ref.length <= LONGEST_REFERENCE) return ref;
  return `${ref.slice(0, LONGEST_REFERENCE - 1).replace(HALF_PAIR, '')}…`;
}
