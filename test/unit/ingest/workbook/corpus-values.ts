/** What one file of the corpus says. */
export interface CorpusValues {
  /** Reference and quantity*price of each line of every invoice that may go out, all of merchant 501964843 and in EUR. */
  readonly sent: readonly string[];
  /** Reference of every other invoice -> a code of each error that keeps it from going out. */
  readonly held?: Readonly<Record<string, readonly string[]>>;
  /** The code of the refusal: nothing of the file is read. */
  readonly refused?: string;
  /** Codes of findings about the file or a row in no invoice, without those about ignored columns. */
  readonly said?: readonly string[];
}

const LOCALE: CorpusValues = { sent: ['F1: 1*1234.5 0.5*2', 'FT 2026/2: 12*0.5'] };

const IDENTITY_AS_NUMBER: CorpusValues = {
  sent: [],
  held: {
    F2: ['tax-number-not-proved'],
    F3: ['line-may-be-missing'],
    '0007': ['line-may-be-missing'],
    F8: ['line-may-be-missing'],
  },
};

const FORMULAS: CorpusValues = { sent: ['F1: 1*2.5'], said: ['formulas'] };
const HIDDEN: CorpusValues = {
  sent: ['F3: 1*4'],
  held: { F1: ['cell-count'], F2: ['row-hidden'] },
  said: ['sheets-not-read', 'columns-hidden'],
};
const MERGED: CorpusValues = {
  sent: ['F2: 1*4'],
  held: { F1: ['cell-merged'] },
  said: ['rows-lost', 'preamble', 'reference-missing'],
};
const FORMATS: CorpusValues = {
  sent: ['F1: 1*2.5', 'F2: 1*12.5', 'F4: 1*2.5', 'F5: 1*2.5'],
  held: { F3: ['unit-price-currency'], F6: ['number-format-adds-text'] },
};
const WRONG_VALUES: CorpusValues = {
  sent: ['F4: 1*2.5'],
  held: {
    F1: ['spreadsheet-error'],
    F2: ['unit-price-unreadable'],
    F3: ['unit-price-unreadable'],
    F5: ['line-may-be-missing'],
  },
};

/** Worked out by a person from the program or the text that each file was made of (`test/golden/workbooks/generators`), not by reading it. */
export const CORPUS_VALUES: Readonly<Record<string, CorpusValues>> = {
  // The row whose reference is a date is of another customer than F1.
  'exceljs-1904.xlsx': { sent: ['F1: 1*2.5'], said: ['rows-lost', 'reference-damaged'] },
  'exceljs-formula-and-hidden.xlsx': { ...FORMULAS, held: { F2: ['spreadsheet-error'], F3: ['row-hidden'] } },
  'exceljs-second-header.xlsx': { sent: ['F1: 1*2.5', 'F2: 1*3'], said: ['header-repeated'] },
  'exceljs-stream.xlsx': { sent: ['F1: 1*2.5 1*12.345'] },
  'exceljs.xlsx': { sent: ['F1: 1*2.5', 'F2: 1*1234567.89'] },
  'hucre.ods': { sent: ['F1: 1*2.5', 'F2: 2*99.9'] },
  'hucre.xlsx': { sent: ['F1: 1*2.5', 'F2: 2*99.9'] },
  'libreoffice-de-CH.ods': LOCALE,
  'libreoffice-de-DE.xlsx': LOCALE,
  'libreoffice-en-US.ods': LOCALE,
  'libreoffice-es-ES.xlsx': LOCALE,
  'libreoffice-fr-FR.ods': LOCALE,
  'libreoffice-it-IT.xlsx': LOCALE,
  'libreoffice-pt-BR.ods': LOCALE,
  'libreoffice-pt-PT.xlsx': LOCALE,
  // F3 has an amount in euro beside the currency USD, F6 a percentage as a price.
  'libreoffice-formats.ods': FORMATS,
  'libreoffice-formulas.ods': { sent: ['F1: 1*2.5', 'F2: 1*2.5', 'F3: 1*2.5'], said: ['formulas'] },
  'libreoffice-formulas.xlsx': { sent: ['F1: 1*2.5', 'F2: 1*2.5', 'F3: 1*2.5'], said: ['formulas'] },
  'libreoffice-hidden.ods': HIDDEN,
  // Each row with a reference stands beside one whose reference is damaged. LibreOffice keeps 15 of the 16 digits of 2^53 + 10.
  'libreoffice-identity-as-number.ods': {
    ...IDENTITY_AS_NUMBER,
    said: ['rows-lost', 'tax-number-not-proved', 'reference-damaged', 'reference-damaged', 'reference-damaged'],
  },
  'libreoffice-merged.ods': MERGED,
  // LibreOffice makes a formula of the truth value.
  'libreoffice-wrong-values.ods': {
    ...WRONG_VALUES,
    said: ['rows-lost', 'number-format-adds-text', 'date-as-text', 'formulas'],
  },
  'odfpy-merged-and-hidden.ods': {
    sent: ['F3: 1*2.5'],
    held: { F1: ['cell-merged'], F2: ['formula-without-value'] },
    said: ['rows-lost', 'reference-missing', 'formulas', 'sheets-not-read'],
  },
  // Two equal rows are written as one that stands for two; the comment F9 is no part of the reference F2.
  'odfpy-rows.ods': { sent: ['F2: 3*1.25', 'F4: 1*0.3'], held: { F1: ['row-repeated'], F3: ['row-hidden'] } },
  'odfpy-two-sheets.ods': { sent: [], refused: 'sheet-ambiguous' },
  'openpyxl-formats.xlsx': FORMATS,
  'openpyxl-formulas-without-values.xlsx': {
    sent: [],
    // The row whose reference is a formula stands below F2, and may be a line of it.
    held: { F1: ['formula-without-value'], F2: ['line-may-be-missing'] },
    said: ['rows-lost', 'formula-without-value', 'formulas'],
  },
  'openpyxl-hidden.xlsx': HIDDEN,
  'openpyxl-identity-as-number.xlsx': {
    ...IDENTITY_AS_NUMBER,
    said: ['rows-lost', 'tax-number-not-proved', 'reference-damaged', 'reference-damaged', 'number-not-exact'],
  },
  'openpyxl-merged.xlsx': MERGED,
  'openpyxl-numbers-as-text.xlsx': {
    sent: ['F1: 1*1234.5', 'F2: 2*12.5', 'F3: 1*1234', 'F4: 1*1.234'],
    said: ['thousands-grouped'],
  },
  'openpyxl-one-of-three-sheets.xlsx': { sent: ['F1: 1*2.5'], said: ['sheets-not-read'] },
  // 1.005 is shown as 1.00 or 1.01: what the cell holds is sent.
  'openpyxl-shown-rounded.xlsx': { sent: ['F1: 1*12.34', 'F2: 1*0.5', 'F3: 1*1.005'], said: ['number-shown-rounded'] },
  'openpyxl-two-sheets.xlsx': { sent: [], refused: 'sheet-ambiguous' },
  'openpyxl-typed.xlsx': { sent: ['F1: 1*2.5 2*1234.5', 'F2: 0.5*19.99', '1003: 1*1000'] },
  'pandas-odfpy.ods': { sent: ['F1: 1*2.5 1*0.1', 'F2: 1*2.5'] },
  'pandas-openpyxl.xlsx': { sent: ['F1: 1*2.5 1*0.1', 'F2: 1*2.5'] },
  'pandas-xlsxwriter-with-index.xlsx': { sent: ['F1: 1*2.5 1*0.1', 'F2: 1*2.5'] },
  'poi-formulas.xlsx': { ...FORMULAS, held: { F2: ['spreadsheet-error'], F3: ['cell-merged'] } },
  'poi-recalculate.xlsx': {
    sent: [],
    held: { F1: ['formula-not-calculated'], F2: ['formula-not-calculated'], F3: ['cell-merged'] },
    said: ['formulas'],
  },
  'poi-streamed.xlsx': {
    sent: [
      `F1: ${Array.from({ length: 20 }, (_, at) => `${2 * at + 1}*0.25`).join(' ')}`,
      `F0: ${Array.from({ length: 20 }, (_, at) => `${2 * at + 2}*0.25`).join(' ')}`,
    ],
  },
  // 1E21 is a one and 21 zeros; no amount is so large, and a warning says so.
  'poi.xlsx': { sent: ['F1: 1*2.5 3*0.1', 'F2: 1*1000000000000000000000'] },
  'pyexcel-ods.ods': { sent: ['F1: 1*2.5', 'F2: 3*0.07'] },
  'pyexcel-ods3.ods': { sent: ['F1: 1*2.5', 'F2: 3*0.07'], said: ['sheets-not-read'] },
  'pyexcelerate.xlsx': { sent: ['F1: 1*2.5', 'F2: 3*0.07'] },
  // The cell with the saved value 2.5 goes out, and the merged one does not.
  'sheetjs-merged-and-formula.xlsx': {
    sent: ['F2: 1*2.5', 'F3: 1*2.5'],
    held: { F1: ['cell-merged'] },
    said: ['formulas'],
  },
  // 4.35 * 100 is 434.99999999999994 and shown as 435.00; 1.1 + 2.2 is 3.3000000000000003; 0.7 + 0.1 is shown as it is.
  'sheetjs-noise.xlsx': {
    sent: ['F1: 1*435', 'F2: 1*3.3'],
    held: { F3: ['number-not-exact'] },
    said: ['number-cleaned', 'number-cleaned'],
  },
  'sheetjs-shared-strings.xlsx': { sent: ['F1: 1*2.5', 'F2: 1*2.5'] },
  'sheetjs.ods': { sent: ['F1: 1*2.5', 'F2: 1*1234.5'] },
  'sheetjs.xlsx': { sent: ['F1: 1*2.5', 'F3: 1000*0.001'], held: { F2: ['number-not-exact'] } },
  'xlsxwriter-filter-and-total.xlsx': { sent: ['F1: 1*2.5'], held: { F2: ['row-hidden'] }, said: ['totals-row'] },
  // The value that the writer was given is not told from the 0 that it puts where it was given none.
  'xlsxwriter-formulas.xlsx': {
    sent: ['F1: 1*2.5'],
    held: { F2: ['formula-not-calculated'], F3: ['formula-not-calculated'] },
    said: ['formulas'],
  },
  'xlsxwriter-inline.xlsx': { sent: ['F1: 1*2.5', 'F2: 7*99.95', 'F3: 1*2.5', 'F4: 1*-3.25'] },
  'xlsxwriter-macros.xlsm': { sent: ['F1: 1*2.5'] },
  'xlsxwriter-very-hidden.xlsx': { sent: ['F1: 1*0.1 1*0.2'], said: ['sheets-not-read'] },
  'xlsxwriter-wrong-values.xlsx': { ...WRONG_VALUES, said: ['rows-lost', 'number-format-adds-text', 'date-as-text'] },
};
