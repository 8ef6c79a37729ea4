import { hasValidChecksum, normalNif } from '../invoice/identity.ts';
import { isEmpty } from './row-width.ts';

/** What ends a line within a cell. */
export const LINE_BREAK = /\r\n|\n|\r/u;

/** A number in a text that is no longer is a number of pieces, a year or a price. */
const LEAST_DIGITS = 8;
/** Digits of a tax number of Portugal, and of a telephone number. */
const NINE = 9;
/** So many delimiters too many may shift the cells of a row. */
const MOST_SHIFT = 3;
const LONGEST_NUMBER = 40;
/** A longer cell is no reference; looked at for each line of a record, it would cost the square of its length. */
const LONGEST_REFERENCE = 200;
const NUMBER = /^\D{0,4}\d[\d\s.,']*\D{0,4}$/u;

/** Positions of columns in a row; -1 or none: the file has no such column. */
export interface RowPlaces {
  readonly nif: number;
  /** Of the reference, or of its parts. */
  readonly refs: readonly number[];
  /** Of quantity and unit price. */
  readonly numbers: readonly number[];
}

/** What is known of the rows near a record. */
export interface KnownRows {
  readonly nifs: readonly string[];
  /** References, of which another row has the pattern. Null: any text with a digit may be one, because no text is expected to have any. */
  readonly refs: readonly string[] | null;
}

/** A line of a record; `inside`: which of its parts stand in a cell of several lines. */
interface Line {
  readonly parts: string[];
  readonly inside: boolean[];
}

/**
 * Finds rows in cells of several lines by what rows have in their places: a reference, a tax number, and amounts. A line of a text that somebody wrote may have
 * a number behind a delimiter, but behind a space, not behind a word that is a reference, and not with amounts where rows have theirs.
 */
export class RowsInCells {
  readonly #delimiter: string;
  readonly #columns: number;
  readonly #places: RowPlaces;

  constructor(given: { readonly delimiter: string; readonly columns: number; readonly places: RowPlaces }) {
    this.#delimiter = given.delimiter;
    this.#columns = given.columns;
    this.#places = given.places;
  }

  /** Whether a cell of several lines holds what tells a row, or two lines of the record are whole rows. */
  hold(cells: readonly string[], known: KnownRows): boolean {
    let rows = 0;
    for (const line of linesOf(cells, this.#delimiter)) {
      if (this.#isNextRow(line, known)) return true;
      const shift = this.#shiftOfRow(line, known);
      if (shift === null) continue;
      rows += 1;
      if (rows === 2 || this.#isInside(line, shift)) return true;
    }
    return false;
  }

  /** A reference like those of other rows, and a tax number, both in a cell: the row may lack any other cell. */
  #isNextRow(line: Line, known: KnownRows): boolean {
    if (this.#places.nif < 0 || this.#places.refs.length === 0 || !this.#isInside(line, 0)) return false;
    const ref = this.#refOf(line, 0);
    return ref !== null && isTaxNumber(this.#nifOf(line, 0), known.nifs) && isLikeOthers(ref, known.refs);
  }

  /** By how many cells the identity of a whole row is shifted; null: this line is none. */
  #shiftOfRow(line: Line, known: KnownRows): number | null {
    const { nif, refs, numbers } = this.#places;
    const extra = line.parts.length - this.#columns;
    if (extra < 0 || (nif < 0 && refs.length === 0)) return null;
    const most = Math.min(extra, MOST_SHIFT);
    let shift = 0;
    while (!this.#hasIdentity(line, shift, known)) if (++shift > most) return null;
    for (let by = 0; by <= most; by += 1)
      if (numbers.every((at) => at < 0 || isNumber(line.parts[at + by] ?? ''))) return shift;
    return null;
  }

  #hasIdentity(line: Line, shift: number, known: KnownRows): boolean {
    const ref = this.#refOf(line, shift);
    if (ref === null) return false;
    const isLike = isLikeOthers(ref, known.refs);
    if (this.#places.nif < 0) return isLike;
    const nif = this.#nifOf(line, shift);
    // A merchant of another country has a number of another length.
    return isTaxNumber(nif, known.nifs) || (isLike && ref !== '' && (nif?.length ?? 0) >= LEAST_DIGITS);
  }

  /** Digits where a row has its tax number; null for a text, and behind a space. */
  #nifOf({ parts }: Line, shift: number): string | null {
    const part = parts[this.#places.nif + shift] ?? '';
    return isWrittenByRow(part) ? normalNif(part) : null;
  }

  /** Text where a row has its reference, empty in a file without any; null for one that is none. */
  #refOf({ parts }: Line, shift: number): string | null {
    const { refs } = this.#places;
    const found = refs.map((at) => parts[at + shift] ?? '');
    const ref = found.join('');
    const isOne = found.every((part) => !isEmpty(part) && isWrittenByRow(part)) && /\d/u.test(ref);
    return isOne || refs.length === 0 ? ref : null;
  }

  /** Whether the identity stands in cells of several lines: in any other one it is that of the record itself. */
  #isInside({ inside }: Line, shift: number): boolean {
    return [this.#places.nif, ...this.#places.refs].every((at) => at < 0 || inside[at + shift] === true);
  }
}

/** Lines of a record as they stand in the file. */
function* linesOf(cells: readonly string[], delimiter: string): Generator<Line> {
  let line: Line = { parts: [], inside: [] };
  for (const cell of cells) {
    const isBroken = cell.includes('\n') || cell.includes('\r');
    const texts = isBroken ? cell.split(LINE_BREAK) : [cell];
    for (const [number, text] of texts.entries()) {
      if (number > 0) {
        yield line;
        line = { parts: [], inside: [] };
      }
      for (const part of isBroken ? text.split(delimiter) : [text]) {
        line.parts.push(part);
        line.inside.push(isBroken);
      }
    }
  }
  yield line;
}

/** Programs write no space behind a delimiter, people do. */
function isWrittenByRow(part: string): boolean {
  return !/^\s/u.test(part);
}

/** A number of nine digits may be that of a telephone, one of other lengths that of an article. */
function isTaxNumber(digits: string | null, known: readonly string[]): boolean {
  if (digits === null || digits.length < LEAST_DIGITS) return false;
  if (digits.length === NINE) return known.includes(digits) || hasValidChecksum(digits);
  return known.some((nif) => nif.length === digits.length);
}

/** Whether a reference differs from another one in its numbers alone; one that is a number alone, in no digit too many. */
function isLikeOthers(ref: string, others: readonly string[] | null): boolean {
  if (others === null) return true;
  if (ref.length > LONGEST_REFERENCE) return false;
  const pattern = patternOf(ref);
  const known = others.filter((other) => other.length <= LONGEST_REFERENCE);
  return known.some((other) => patternOf(other) === pattern && (pattern !== '#' || other.length === ref.length));
}

function patternOf(ref: string): string {
  return ref.trim().replace(/\d+/gu, '#');
}

function isNumber(part: string): boolean {
  return part.length <= LONGEST_NUMBER && NUMBER.test(part.trim());
}
