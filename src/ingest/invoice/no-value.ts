import { COLUMNS } from '../../domain/row.ts';

/** Words that programs write if they have no value, in lower case without accents, signs and spaces. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(
  (
    'null nil none nothing undefined void missing unknown nan nat na nd sd sn tbd 0 object objectobject systemobject ' +
    'dbnull systemdbnull notavailable notapplicable novalue blank empty embranco vazio semvalor semnome enblanco vacio ' +
    'sinvalor sinnombre vide vuoto leer naoaplicavel noaplica nodisponible naodisponivel true false verdadeiro falso ' +
    'verdadero'
  ).split(' '),
);
const LONGEST = 30;
/** MySQL's sign for null, and a template placeholder that was not filled: `${name}`, `{{ customer.name }}`, `%s`. */
const UNFILLED = /^(?:\\[N0]|[$#]?\{.*\}|<%.*%>|%[sd])$/u;
/** A number sign and capitals in any language; a column that is too narrow; an error of LibreOffice. */
const SPREADSHEET_ERROR =
  /^#[¡¿]?\p{Lu}[\p{Lu}_]*(?:\/(?:0|\p{Lu}+))?[!?]?$|^#[¡¿]?[\p{L}_/0]+[!?]$|^#{3,}$|^Err:\d{3}$/u;
/** The text of a cell while the spreadsheet fetches its value: `Loading...`, `A carregar…`, `Obteniendo datos...`. */
const LOADING = /^(?=.*(?:[iaeo]ng\b|[aei]ndo\b|carreg|charg|caric|geladen|lädt))[\p{L} ]+(?:\.{3}|…)$/iu;

/** Nearly every text fails this fast check: a first letter of one of the words, and no digit but 0. */
const MAY_BE_ONE = new RegExp(
  `^[^\\p{L}\\p{N}]*[${[...new Set([...PLACEHOLDERS].map((word) => word[0]))].join('')}][^1-9]*$`,
  'iu',
);

/** Returns true for a cell that states that it has no value: a placeholder word, or neither a letter nor a digit. */
export function isPlaceholder(cell: string): boolean {
  const text = cell.trim();
  if (text === '') return false;
  if (UNFILLED.test(text) || !/[\p{L}\p{N}]/u.test(text)) return true;
  if (text.length > LONGEST || !MAY_BE_ONE.test(text)) return false;
  const folded = text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s]/gu, '');
  const words = folded.split(/\s+/u).filter((word) => word !== '');
  return PLACEHOLDERS.has(words.join('')) || words.every((word) => PLACEHOLDERS.has(word));
}

/** Returns true for a text that a spreadsheet shows instead of a value. */
export function isSpreadsheetError(cell: string): boolean {
  const text = cell.trim();
  if (text.length > LONGEST || !/^#|^Err:|\.$|…$/u.test(text)) return false;
  return SPREADSHEET_ERROR.test(text) || LOADING.test(text);
}

const LABEL = /^(?:sub|grand|gran)?[\s-]?tota(?:l|is|les|ux)\b|^(?:soma|suma|sum)\b/i;
/** Matches the whole text, so that `Total Care` stays a product. */
const NOTHING_BUT_LABEL =
  /^(?:(?:sub|grand|gran)[\s-]?)?tota(?:l|is|les|ux)(?: geral| general)?\s*:?$|^(?:soma|suma|sum)\s*:?$/i;
/** The columns of a line. A row that fills all of them is a line, even if named a total. */
const LINE_COLUMNS = numbersOf('description', 'quantity', 'unit_price', 'tax_code');
const PRODUCT_COLUMNS = numbersOf('description', 'quantity', 'unit_price');

/** Returns the label of a totals row, and null for what may be a line, such as `TOTAL Quartz 5W30`. */
export function totalsLabel(record: readonly string[], cells: readonly (string | null)[]): string | null {
  const isFilled = (column: number): boolean => (cells[column]?.trim() ?? '') !== '';
  if (LINE_COLUMNS.every(isFilled)) return null;
  const label = PRODUCT_COLUMNS.every(isFilled) ? NOTHING_BUT_LABEL : LABEL;
  return record.find((cell) => label.test(cell.trim()))?.trim() ?? null;
}

function numbersOf(...columns: readonly (typeof COLUMNS)[number][]): readonly number[] {
  return columns.map((column) => COLUMNS.indexOf(column));
}

/** Returns true for a description that is only "total": it would count its invoice's amounts twice. */
export function isTotalsDescription(description: string): boolean {
  return NOTHING_BUT_LABEL.test(description);
}
