import type { Finding } from '../../domain/invoice.ts';
import { Refusal } from '../refusal.ts';

/** More rows of a wrong shape than this, and it is the file that was misread, not a row that is wrong. */
const MOST_DAMAGED_ROWS = 1000;

/** Findings that only the reader of a file can make, kept until their invoice is built. */
export class Damage {
  readonly #byRow = new Map<number, Finding[]>();

  /** @throws Refusal `too-many-damaged-rows` */
  add(row: number, findings: readonly Finding[]): void {
    const earlier = this.#byRow.get(row);
    if (earlier !== undefined) {
      earlier.push(...findings);
      return;
    }
    this.#byRow.set(row, [...findings]);
    if (this.#byRow.size <= MOST_DAMAGED_ROWS) return;
    const example = findings[0]?.message ?? '';
    throw new Refusal(
      'too-many-damaged-rows',
      `More than ${MOST_DAMAGED_ROWS} rows do not have the shape of the file. The last one found: ${example}`,
      { row },
    );
  }

  toJSON(): Record<string, readonly Finding[]> {
    return Object.fromEntries([...this.#byRow].map(([row, findings]) => [String(row), findings]));
  }
}
