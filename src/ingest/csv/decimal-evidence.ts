import { ORIGINAL } from '../../domain/read-as.ts';
import { Refusal, shorten } from '../findings.ts';
import { plainCharacters, readNumber, type DecimalMark } from '../invoice/read-number.ts';

interface Witness {
  readonly row: number;
  readonly column: string;
  readonly value: string;
}

/** The decimal mark of a file, and the evidence for it. */
export interface DecimalProof {
  readonly mark: DecimalMark;
  /** `either`: no cell of the file depends on the mark. */
  readonly how: 'declared' | 'proved' | 'either';
  readonly witness: Witness | null;
  /** A cell that is another number with the other mark: corrections must then state the mark. */
  readonly ambiguous?: Witness | undefined;
  readonly thousands?: Witness | undefined;
  /** The cell that proves that the file groups thousands. Absent if the mark is declared. */
  readonly grouping?: Witness | undefined;
}

const INTEGER = /^-?\d+$/;
const LONGEST_SHOWN = 40;
const WORDS: Readonly<Record<DecimalMark, string>> = { '.': 'a decimal point', ',': 'a decimal comma' };

/** What a cell shows. `mark`: the only mark that reads it; null if both do, as two numbers. `groups`: the other sign groups its thousands. */
interface Says {
  readonly mark: DecimalMark | null;
  readonly groups: boolean;
  /** The sign that decides the value of a cell that both marks read. */
  readonly sign: DecimalMark;
}

const MOST_SHAPES = 500;

function whatSays(cell: string): Says | null {
  const point = readNumber(cell, '.')?.value;
  const comma = readNumber(cell, ',')?.value;
  if (point === comma) return null;
  const mark = comma === undefined ? '.' : point === undefined ? ',' : null;
  const text = plainCharacters(cell);
  return { mark, groups: mark !== null && text.includes(otherMark(mark)), sign: text.includes('.') ? '.' : ',' };
}

function otherMark(mark: DecimalMark): DecimalMark {
  return mark === '.' ? ',' : '.';
}

/** Collects the possible decimal marks of a file from all its number columns. */
export class DecimalEvidence {
  readonly #shapes = new Map<string, Says | null>();
  /** For each mark, a cell that only this mark reads. */
  readonly #proofs: Partial<Record<DecimalMark, Witness>> = {};
  /** For each mark, a cell that only it reads and whose other sign groups thousands. */
  readonly #groupings: Partial<Record<DecimalMark, Witness>> = {};
  /** For each sign, a cell that both marks read, as different numbers. */
  readonly #ambiguous: Partial<Record<DecimalMark, Witness>> = {};

  observe(row: number, column: string, cell: string): void {
    if (INTEGER.test(cell)) return;
    const says = this.#says(cell);
    if (says === null) return;
    const { mark, groups, sign } = says;
    const witness = { row, column, value: shorten(cell.trim(), LONGEST_SHOWN) };
    if (mark === null) this.#ambiguous[sign] ??= witness;
    else {
      this.#proofs[mark] ??= witness;
      if (groups) this.#groupings[mark] ??= witness;
    }
  }

  /** Only the places of digits and zeros matter, so a column of a million cells has a few dozen shapes. */
  #says(cell: string): Says | null {
    const shape = cell.replaceAll(/[1-9]/g, '9');
    const known = this.#shapes.get(shape);
    if (known !== undefined) return known;
    const says = whatSays(cell);
    if (this.#shapes.size < MOST_SHAPES && shape.length <= LONGEST_SHOWN) this.#shapes.set(shape, says);
    return says;
  }

  /** Notes a JSON number token, whose point is a decimal point by definition. */
  observeToken(row: number, column: string, token: string): void {
    if (token.includes('.')) this.#proofs['.'] ??= { row, column, value: shorten(token, LONGEST_SHOWN) };
  }

  /** Notes a number that the corrections keep as in the dropped file: the decimal that Lote read there proves the mark. */
  observeKept(row: number, column: string, kept: { readonly cell: string; readonly value: string }): void {
    const says = whatSays(kept.cell);
    if (says === null || says.mark !== null) return;
    const mark = (['.', ','] as const).find((one) => readNumber(kept.cell, one)?.value === kept.value);
    if (mark === undefined) return;
    const value = `${shorten(kept.cell.trim(), LONGEST_SHOWN)} = ${kept.value} (${ORIGINAL})`;
    const witness = { row, column, value };
    this.#proofs[mark] ??= witness;
    if (mark !== says.sign) this.#groupings[mark] ??= witness;
  }

  /** Decides the mark. Cells that fit both marks are read as thousands only if the file proves it or a person declares the mark. @throws Refusal */
  decide(declared?: DecimalMark): DecimalProof {
    const { '.': point, ',': comma } = this.#proofs;
    if (point !== undefined && comma !== undefined) {
      const { row, column } = point.row > comma.row ? point : comma;
      const message = `Expected one decimal mark throughout the file, found ${shownWitness(point)} (a decimal point) and ${shownWitness(comma)} (a decimal comma). Write all numbers with one of them`;
      throw new Refusal('decimal-contradictory', message, { row, column });
    }
    const proved = point !== undefined ? '.' : comma !== undefined ? ',' : null;
    const witness = point ?? comma ?? null;
    if (declared !== undefined && proved !== null && proved !== declared && witness !== null)
      throw notAsDeclared(declared, witness);
    const ambiguous = this.#ambiguous['.'] ?? this.#ambiguous[','];
    const mark = declared ?? proved;
    if (mark === null) {
      if (ambiguous !== undefined) throw unproved(ambiguous, 'no value of the file decides');
      return { mark: '.', how: 'either', witness: null };
    }
    const thousands = this.#ambiguous[otherMark(mark)];
    const grouping = this.#groupings[mark];
    if (declared === undefined && thousands !== undefined && grouping === undefined)
      throw unproved(
        thousands,
        `${shownWitness(witness)} says ${WORDS[mark]}, but no value shows that the file groups its thousands`,
      );
    const how = declared === undefined ? 'proved' : 'declared';
    return { mark, how, witness, ambiguous, thousands, grouping: thousands && grouping };
  }
}

/** A declaration decides only what the file leaves open. It cannot overrule a file that proves the other mark. */
function notAsDeclared(mark: DecimalMark, { row, column, value }: Witness): Refusal {
  const other = otherMark(mark);
  const message = `Column ${column}: ${WORDS[mark]} was declared (--decimal ${mark}, or a profile), but "${value}" in row ${row} can only be read with ${WORDS[other]}. Declare --decimal ${other}, or correct the file`;
  return new Refusal('decimal-not-as-declared', message, { row, column });
}

function unproved({ row, column, value }: Witness, why: string): Refusal {
  const point = readNumber(value, '.')?.value ?? '?';
  const comma = readNumber(value, ',')?.value ?? '?';
  const message = `Column ${column}: "${value}" in row ${row} can mean ${point} (decimal point) or ${comma} (decimal comma), and ${why}. Declare the mark with --decimal . or --decimal , (or in a profile), or write the value without three digits behind a mark`;
  return new Refusal('decimal-unproved', message, { row, column });
}

function shownWitness(witness: Witness | null): string {
  return witness === null ? '' : `"${witness.value}" in row ${witness.row}, ${witness.column}`;
}
