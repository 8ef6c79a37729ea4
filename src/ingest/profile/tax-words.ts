/** What a profile may hold. */
const LONGEST_WORD = 200;

const RATE = /^(\d{1,2})(?:[.,]0+)?\s*%?$/;
const KNOWN_CODE = /^IVA_\d+(?:[._]\d+)?$/;

/** A word of the file for a tax, and the code of the service that it seems to mean; null: it is no rate. */
export interface TaxWord {
  readonly word: string;
  readonly code: string | null;
}

/** The words of a tax column that are no codes of the service, each once, in the order of their rows, at most `most`. */
export function unknownTaxWords(cells: readonly string[], most: number): readonly TaxWord[] {
  const words = [...new Set(cells.map((cell) => cell.trim()))].filter((word) => word !== '' && !KNOWN_CODE.test(word));
  return words
    .filter((word) => word.length <= LONGEST_WORD)
    .slice(0, most)
    .map((word) => ({ word, code: likelyCode(word) }));
}

/** `IVA_23` for `23,00 %`. */
function likelyCode(word: string): string | null {
  const rate = RATE.exec(word)?.[1];
  return rate === undefined ? null : `IVA_${Number(rate)}`;
}
