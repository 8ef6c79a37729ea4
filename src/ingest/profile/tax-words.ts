const RATE = /^(\d{1,2})(?:[.,]0+)?\s*%?$/;
const KNOWN_CODE = /^IVA_\d+(?:[._]\d+)?$/;

/** The words of a tax column that are no codes of the service, each once, in the order of their rows. */
export function unknownTaxWords(cells: readonly string[]): readonly string[] {
  return [...new Set(cells.map((cell) => cell.trim()))].filter((word) => word !== '' && !KNOWN_CODE.test(word));
}

/** The code of a word that is a rate: `IVA_23` for `23,00 %`; null for another word. */
export function likelyTaxCode(word: string): string | null {
  const rate = RATE.exec(word)?.[1];
  return rate === undefined ? null : `IVA_${Number(rate)}`;
}
