const REFERENCE = /^([A-Z]{1,3})([1-9]\d{0,6})$/;

/** A cell of a sheet: its row from 1, its column from 0. */
interface CellPlace {
  readonly row: number;
  readonly column: number;
}

/** `B5` -> row 5, column 1 (from 0). */
export function placeOf(reference: string): CellPlace | null {
  const [, letters = '', digits = ''] = REFERENCE.exec(reference) ?? [];
  if (letters === '') return null;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return { row: Number(digits), column: column - 1 };
}

/** `B5:C9` or `B5` -> its first and its last cell. */
export function rangeOf(reference: string): { readonly first: CellPlace; readonly last: CellPlace } | null {
  const [from = '', to = from] = reference.split(':', 2);
  const first = placeOf(from);
  const last = placeOf(to);
  return first === null || last === null ? null : { first, last };
}
