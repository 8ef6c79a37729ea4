import { readNumber } from './read-number.ts';
import type { DecimalMark } from './read-number.ts';
import { Refusal } from './refusal.ts';
import { shorten } from './shorten.ts';

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
}

const INTEGER = /^-?\d+$/;
const LONGEST_SHOWN = 40;

/** Keeps the readings still possible of one number column, over all its cells. */
export class DecimalEvidence {
  readonly #label: string;
  readonly #witnesses: Partial<Record<DecimalMark | 'ambiguous', Witness>> = {};

  constructor(label: string) {
    this.#label = label;
  }

  observe(row: number, cell: string): void {
    if (INTEGER.test(cell)) return;
    const point = readNumber(cell, '.')?.value;
    const comma = readNumber(cell, ',')?.value;
    if (point === comma) return;
    const says = comma === undefined ? '.' : point === undefined ? ',' : 'ambiguous';
    this.#witnesses[says] ??= { row, value: shorten(cell.trim(), LONGEST_SHOWN) };
  }

  /** @throws Refusal `decimal-contradictory`, `decimal-unproved` */
  decide(declared?: DecimalMark): DecimalProof {
    const { '.': point, ',': comma, ambiguous } = this.#witnesses;
    if (declared !== undefined) return { mark: declared, how: 'declared', witness: null };
    if (point !== undefined && comma !== undefined) throw this.#contradictory(point, comma);
    if (point !== undefined) return { mark: '.', how: 'proved', witness: point };
    if (comma !== undefined) return { mark: ',', how: 'proved', witness: comma };
    if (ambiguous !== undefined) throw this.#unproved(ambiguous);
    return { mark: '.', how: 'either', witness: null };
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
