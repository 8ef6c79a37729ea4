import { readNumber } from '../invoice/read-number.ts';
import type { DecimalMark } from '../invoice/read-number.ts';
import { Refusal } from '../refusal.ts';
import { shorten } from '../invoice/shorten.ts';

/** A cell that speaks for something. */
export interface Witness {
  readonly row: number;
  readonly value: string;
}

/** Which decimal mark a column has, and what says so. */
export interface DecimalProof {
  readonly mark: DecimalMark;
  /** `either`: no cell of the column depends on the mark. */
  readonly how: 'declared' | 'proved' | 'either';
  readonly witness: Witness | null;
  /** Present when the mark is declared although this cell reads only under the other one. */
  readonly against?: Witness;
  /** Present when this cell reads as another number under the other mark: corrections must then carry the mark. */
  readonly ambiguous?: Witness;
  /** Present in corrections of a file whose column had both marks: a cell that reads both ways is still an error. */
  readonly doubtful?: true;
}

/** Whether the column has both marks, here or in the file of these corrections. */
export function isDoubtful({
  against,
  doubtful,
}: {
  readonly against?: unknown;
  readonly doubtful?: true | undefined;
}): boolean {
  return against !== undefined || doubtful === true;
}

const INTEGER = /^-?\d+$/;
const LONGEST_SHOWN = 40;
const WORDS: Readonly<Record<DecimalMark, string>> = { '.': 'a decimal point', ',': 'a decimal comma' };

type Says = DecimalMark | 'ambiguous' | 'nothing';

/** Cells of hostile shapes are read one by one. */
const MOST_SHAPES = 500;

function whatSays(cell: string): Says {
  const point = readNumber(cell, '.')?.value;
  const comma = readNumber(cell, ',')?.value;
  if (point === comma) return 'nothing';
  return comma === undefined ? '.' : point === undefined ? ',' : 'ambiguous';
}

/** Keeps the readings still possible of one number column, over all its cells. */
export class DecimalEvidence {
  readonly #label: string;
  readonly #shapes = new Map<string, Says>();
  readonly #witnesses: Partial<Record<DecimalMark | 'ambiguous', Witness>> = {};
  /** Of corrections: a number that nobody changed, and that was read in the dropped file with this mark. */
  readonly #kept: Partial<Record<DecimalMark, Witness>> = {};

  constructor(label: string) {
    this.#label = label;
  }

  observe(row: number, cell: string): void {
    if (INTEGER.test(cell)) return;
    const says = this.#says(cell);
    if (says !== 'nothing' && this.#witnesses[says] === undefined) this.#keep(says, row, cell);
  }

  /**
   * Which digits there are does not matter, only where and whether one is a zero (`0.500` has no thousands): a column of a million cells
   * has a few dozen shapes, and each is read once.
   */
  #says(cell: string): Says {
    const shape = cell.replaceAll(/[1-9]/g, '9');
    const known = this.#shapes.get(shape);
    if (known !== undefined) return known;
    const says = whatSays(cell);
    if (this.#shapes.size < MOST_SHAPES && shape.length <= LONGEST_SHOWN) this.#shapes.set(shape, says);
    return says;
  }

  /** A number token of JSON: its point is a decimal point by definition. */
  observeToken(row: number, token: string): void {
    if (token.includes('.')) this.#keep('.', row, token);
  }

  /** A number of corrections that stands there as in the dropped file, where it was this decimal. */
  observeKept(row: number, cell: string, decimal: string): void {
    const point = readNumber(cell, '.')?.value;
    const comma = readNumber(cell, ',')?.value;
    if (point === comma || point === undefined || comma === undefined) return;
    const mark = decimal === point ? '.' : decimal === comma ? ',' : null;
    if (mark !== null) this.#kept[mark] ??= { row, value: shorten(cell.trim(), LONGEST_SHOWN) };
  }

  /**
   * `wasDoubtful`: these are corrections, and in the dropped file the column had both marks; the cells that speak for the declared one may all be issued.
   * @throws Refusal `decimal-contradictory`, `decimal-unproved`, `decimal-not-as-declared`, `decimal-not-as-before`
   */
  decide(declared?: DecimalMark, wasDoubtful = false): DecimalProof {
    const proof = this.#decided(declared, wasDoubtful);
    const kept = this.#kept[proof.mark === '.' ? ',' : '.'];
    if (kept !== undefined) throw this.#notAsBefore(proof.mark, kept);
    return wasDoubtful ? { ...proof, doubtful: true } : proof;
  }

  #decided(declared: DecimalMark | undefined, wasDoubtful: boolean): DecimalProof {
    const { '.': point, ',': comma, ambiguous } = this.#witnesses;
    if (declared !== undefined) return this.#withAmbiguous(this.#asDeclared(declared, wasDoubtful));
    if (point !== undefined && comma !== undefined) throw this.#contradictory(point, comma);
    if (point !== undefined) return this.#withAmbiguous({ mark: '.', how: 'proved', witness: point });
    if (comma !== undefined) return this.#withAmbiguous({ mark: ',', how: 'proved', witness: comma });
    if (ambiguous !== undefined) throw this.#unproved(ambiguous);
    return { mark: '.', how: 'either', witness: null };
  }

  #withAmbiguous(proof: DecimalProof): DecimalProof {
    const { ambiguous } = this.#witnesses;
    return ambiguous === undefined ? proof : { ...proof, ambiguous };
  }

  #keep(says: DecimalMark | 'ambiguous', row: number, cell: string): void {
    this.#witnesses[says] ??= { row, value: shorten(cell.trim(), LONGEST_SHOWN) };
  }

  /** A declaration decides what the file leaves open. It cannot turn a file written the other way into one of its own. */
  #asDeclared(mark: DecimalMark, wasDoubtful: boolean): DecimalProof {
    const proof = { mark, how: 'declared', witness: this.#witnesses[mark] ?? null } as const;
    const other = mark === '.' ? ',' : '.';
    const against = this.#witnesses[other];
    if (against === undefined) return proof;
    if (proof.witness !== null || wasDoubtful) return { ...proof, against };
    throw new Refusal(
      'decimal-not-as-declared',
      `Column ${this.#label}: ${WORDS[mark]} was declared (--decimal ${mark}, or a profile), but "${against.value}" in row ${against.row} can only be read with ${WORDS[other]}, and no value needs the declared one. Declare --decimal ${other}, or correct the file`,
      { row: against.row, column: this.#label },
    );
  }

  #notAsBefore(mark: DecimalMark, { row, value }: Witness): Refusal {
    const before = mark === '.' ? ',' : '.';
    const now = readNumber(value, mark)?.value ?? '?';
    const then = readNumber(value, before)?.value ?? '?';
    return new Refusal(
      'decimal-not-as-before',
      `Column ${this.#label}: expected the numbers that nobody changed to be those of the dropped file, but "${value}" in row ${row} was ${then} there (lote_original), and is ${now} with ${WORDS[mark]}. Read these corrections with --decimal ${before}, or empty lote_original in each such row if ${WORDS[mark]} is meant`,
      { row, column: this.#label },
    );
  }

  #contradictory(point: Witness, comma: Witness): Refusal {
    return new Refusal(
      'decimal-contradictory',
      `Column ${this.#label}: expected one decimal mark throughout, found "${point.value}" in row ${point.row} (a decimal point) and "${comma.value}" in row ${comma.row} (a decimal comma). Correct the file, or declare the mark with --decimal`,
      { row: Math.max(point.row, comma.row), column: this.#label },
    );
  }

  #unproved({ row, value }: Witness): Refusal {
    const point = readNumber(value, '.')?.value ?? '?';
    const comma = readNumber(value, ',')?.value ?? '?';
    return new Refusal(
      'decimal-unproved',
      `Column ${this.#label}: "${value}" in row ${row} can mean ${point} (decimal point) or ${comma} (decimal comma), and no value of the column decides. Declare it with --decimal . or --decimal , (or in a profile), or write one value of the column with two decimals`,
      { row, column: this.#label },
    );
  }
}
