import { COLUMNS } from '../domain/row.ts';
import type { RawRow } from '../domain/row.ts';
import type { Damage } from './encoding/damage.ts';
import { Refusal } from './refusal.ts';

/** A row that has no usable reference or tax number and is no totals row, or whose cells are shifted. */
export interface LostRow {
  readonly row: number;
  readonly ref: string;
  /** Digits; null when the cell is empty or unreadable. */
  readonly nif: string | null;
  readonly customer: string;
  /** For the reader: what is wrong with it. */
  readonly what: string;
}

/** Each is kept until the end of the file; more of them, and it is the file that was misread. */
const MOST_REFERENCES = 1000;
const CUSTOMER = COLUMNS.indexOf('customer_name');

/**
 * A row without identity may be the line of an invoice that looks complete without it: a table in which only the first row of an invoice
 * carries the reference is the usual case. Issuing the rest would be a wrong invoice that nothing can call back, so the invoices that the
 * row may belong to are made invalid and come back with it: those of the same reference, else its neighbours of the same customer.
 */
export class LostRows {
  readonly #damage: Damage;
  readonly #label: string;
  readonly #references = new Map<string, number>();
  #above: RawRow | null = null;
  #blamed: RawRow | null = null;
  /** Since the last row that has an identity: each may be a line of the next one. */
  #waiting = new Map<string, LostRow>();

  constructor(damage: Damage, label: string) {
    this.#damage = damage;
    this.#label = label;
  }

  /** A row that has an identity. */
  kept(row: RawRow): void {
    this.#above = row;
    for (const [words, lost] of this.#waiting) {
      // A shifted row is lost and kept at once: it waits for the row below it.
      if (lost.row === row.row) continue;
      this.#blame(row, lost);
      this.#waiting.delete(words);
    }
  }

  /** @throws Refusal `too-many-damaged-rows` */
  lose(lost: LostRow): void {
    if (lost.ref === '') {
      if (this.#above !== null) this.#blame(this.#above, lost);
      // Of rows that say the same the last one is enough, however long a run of them is.
      this.#waiting.set(JSON.stringify([lost.nif, lost.customer]), lost);
      if (this.#waiting.size > MOST_REFERENCES) throw tooMany(lost, 'no reference, one below the other');
      return;
    }
    if (!this.#references.has(lost.ref)) this.#references.set(lost.ref, lost.row);
    if (this.#references.size <= MOST_REFERENCES) return;
    throw tooMany(lost, 'a reference and no usable tax number');
  }

  references(): Record<string, number> {
    return Object.fromEntries(this.#references);
  }

  #blame(row: RawRow, lost: LostRow): void {
    if (this.#blamed === row || !mayBelong(lost, row)) return;
    this.#blamed = row;
    this.#damage.add(row.row, [
      {
        row: row.row,
        column: this.#label,
        code: 'line-may-be-missing',
        message: `Row ${row.row}, ${this.#label}: row ${lost.row} beside it ${lost.what} and may be a line of this invoice, so the invoice is not sent. Correct row ${lost.row}`,
        severity: 'error',
      },
    ]);
  }
}

function tooMany({ row }: LostRow, found: string): Refusal {
  return new Refusal(
    'too-many-damaged-rows',
    `More than ${MOST_REFERENCES} rows have ${found}, the last one is row ${row}. Correct the column, or name it in a profile`,
    { row },
  );
}

/** What the row does say must not contradict. */
function mayBelong(lost: LostRow, row: RawRow): boolean {
  if (lost.nif !== null && lost.nif !== row.nif) return false;
  return lost.customer === '' || lost.customer === (row.cells[CUSTOMER]?.trim() ?? '');
}
