/** A spreadsheet keeps so many digits of a number, and writes zeros for the others. */
const KEPT_DIGITS = 15;
const LONG_NUMBER = /^\d{16,}$/;
/** Zeros where each digit could stand, in all references together: by chance one file in a hundred has so many. */
const FEWEST_ZEROS = 2;
/** Enough of them to decide. */
const MOST_KEPT = 100;

/** Whether the long references of a CSV file went through a spreadsheet, which makes `12345678901234500` of `12345678901234567`, and of `…568`, too. */
export class CutReferences {
  readonly #cut = new Set<string>();
  #isWhole = false;

  observe(ref: string): void {
    if (this.#isWhole || !LONG_NUMBER.test(ref)) return;
    // As a number it would have no zero in front.
    if (ref.startsWith('0') || !isCutReference(ref)) this.#isWhole = true;
    else if (this.#cut.size < MOST_KEPT) this.#cut.add(ref);
  }

  /** All of them end as a spreadsheet ends them, and too many for chance. */
  get areCut(): boolean {
    if (this.#isWhole) return false;
    let zeros = 0;
    for (const ref of this.#cut) zeros += ref.length - KEPT_DIGITS;
    return zeros >= FEWEST_ZEROS;
  }
}

/** True for a number of more digits than a spreadsheet keeps that has only zeros behind those. */
export function isCutReference(ref: string): boolean {
  return LONG_NUMBER.test(ref) && !/[1-9]/.test(ref.slice(KEPT_DIGITS));
}
