import { givenOnly } from './given-only.ts';
import { isPlainObject } from './json-pointer.ts';

/** How Lote read the file of a corrections file. The corrections file has fewer rows, which may not prove these options again. */
export interface ReadAs {
  readonly decimal?: '.' | ',';
  /** Set if a spreadsheet had cut digits of each long reference and no person has confirmed the references. */
  readonly references?: 'cut';
  readonly profile?: string;
  /** Declared by an operator; proof in the bytes has priority. */
  readonly encoding?: string;
  /** One character, declared by an operator. */
  readonly delimiter?: string;
  /** Declared by an operator. `refuse` is written only if a profile may say otherwise. */
  readonly duplicateRows?: 'refuse' | 'keep';
  /** The file was a workbook, which has facts that a text lacks: hidden rows, merged cells, and more decimals than it shows. */
  readonly form?: 'workbook';
}

/** Column (CSV) or member (JSON) of a corrections file that holds the `ReadAs`; present only when needed. */
export const READ_AS = 'lote_read_as';

/** Column of CSV corrections: original text of cells that a spreadsheet may change, and faults of the row that its cells do not show. */
export const ORIGINAL = 'lote_original';

/**
 * XLSX number format of the `lote_read_as` cells in a workbook. It changes no text, ODS can express it, and no person
 * chooses it, because a spreadsheet has 15 digits of a number. Saving the workbook as CSV loses it.
 */
export const READ_AS_FORMAT = '00000000000000000';

const WORD = { '.': 'point', ',': 'comma' } as const;
const MARK = { point: '.', comma: ',' } as const;

/** Writes the options as text, such as `decimal=comma profile=erp`. Returns an empty text without options. */
export function readAsText(readAs: ReadAs): string {
  const { decimal, references, profile, encoding, delimiter, duplicateRows, form } = readAs;
  const said = {
    decimal: decimal && WORD[decimal],
    ...{ references, profile, encoding },
    // The delimiter is written as a number, because the character would end the cell.
    delimiter: delimiter?.charCodeAt(0),
    duplicates: duplicateRows,
    form,
  };
  return Object.entries(givenOnly(said))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** Reads the text of `readAsText`. Ignores unknown words and malformed values, and never throws. */
export function parseReadAs(text: string): ReadAs {
  const said = new Map(
    text.split(' ').map((token): [string, string] => [token.split('=')[0] ?? '', token.split('=')[1] ?? '']),
  );
  const oneOf = <Word extends string>(name: string, ...words: readonly Word[]) =>
    words.find((word) => word === said.get(name));
  const decimal = oneOf('decimal', 'point', 'comma');
  const delimiter = /^\d{1,5}$/.exec(said.get('delimiter') ?? '')?.[0];
  return givenOnly({
    decimal: decimal && MARK[decimal],
    references: oneOf('references', 'cut'),
    profile: /^[a-z0-9][a-z0-9_-]*$/.exec(said.get('profile') ?? '')?.[0],
    encoding: said.get('encoding'),
    delimiter: delimiter && String.fromCharCode(Number(delimiter)),
    duplicateRows: oneOf('duplicates', 'keep', 'refuse'),
    form: oneOf('form', 'workbook'),
  });
}

/** True for the ingest proof of a corrections file of Lote: it has the columns `lote_state` and `lote_reason`. */
export function isCorrectionsFile(proof: Readonly<Record<string, unknown>>): boolean {
  const { dialect } = proof;
  return isPlainObject(dialect) && dialect['own'] === true;
}
