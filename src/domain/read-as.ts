import { isPlainObject } from './json-pointer.ts';

/** How the file of a corrections file was read: what its own rows, fewer than the file's, may not prove any more. */
export interface ReadAs {
  readonly decimal?: '.' | ',';
  /** Each long reference had lost digits in a spreadsheet, and no person has said that they are right. */
  readonly references?: 'cut';
  readonly profile?: string;
  /** Declared by an operator; what the bytes prove comes before it. */
  readonly encoding?: string;
  /** One character, declared by an operator. */
  readonly delimiter?: string;
  /** Declared; `refuse` only where a profile may say the other. */
  readonly duplicateRows?: 'refuse' | 'keep';
  /** A workbook shows what a text does not: a row that is hidden, cells that are merged, the decimals behind those that are shown. */
  readonly form?: 'workbook';
}

/** Column (CSV) or member (JSON) of a corrections file that carries it; there only when it is needed. */
export const READ_AS = 'lote_read_as';

/** Column of corrections in CSV: cells of its row that a spreadsheet may change, as the dropped file had them, and what was wrong with the row and its cells do not show. */
export const ORIGINAL = 'lote_original';

/**
 * Number format of the cells of `lote_read_as` in a workbook, as XLSX writes it. It changes no text, ODS can say it, and no person chooses it: a spreadsheet
 * has 15 digits of a number. A workbook that was saved as CSV in between has lost it.
 */
export const READ_AS_FORMAT = '00000000000000000';

const WORD = { '.': 'point', ',': 'comma' } as const;

/** `decimal=comma profile=erp`; empty when there is nothing to say. */
export function readAsText(readAs: ReadAs): string {
  const { decimal, references, profile, encoding, delimiter, duplicateRows, form } = readAs;
  const said = {
    decimal: decimal && WORD[decimal],
    ...{ references, profile, encoding },
    // By its number: a delimiter inside a cell would end it.
    delimiter: delimiter?.charCodeAt(0),
    duplicates: duplicateRows,
    form,
  };
  return Object.entries(said)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    .join(' ');
}

/** Reads what `readAsText` wrote. Words that it does not know, and values out of form, are left out; nothing is thrown. */
export function parseReadAs(text: string): ReadAs {
  const tokens = new Map(
    text.split(' ').map((token): [string, string] => [token.split('=')[0] ?? '', token.split('=')[1] ?? '']),
  );
  const decimal = markOf(tokens.get('decimal'));
  const profile = /^[a-z0-9][a-z0-9_-]*$/.exec(tokens.get('profile') ?? '')?.[0];
  const encoding = tokens.get('encoding');
  const duplicates = tokens.get('duplicates');
  const delimiter = /^\d{1,5}$/.exec(tokens.get('delimiter') ?? '')?.[0];
  return {
    ...(decimal === undefined ? {} : { decimal }),
    ...(tokens.get('references') === 'cut' ? { references: 'cut' } : {}),
    ...(profile === undefined ? {} : { profile }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter: String.fromCharCode(Number(delimiter)) }),
    ...(duplicates === 'keep' || duplicates === 'refuse' ? { duplicateRows: duplicates } : {}),
    ...(tokens.get('form') === 'workbook' ? { form: 'workbook' } : {}),
  };
}

function markOf(word: string | undefined): '.' | ',' | undefined {
  return word === 'comma' ? ',' : word === 'point' ? '.' : undefined;
}

/** True for the proof of a file that Lote wrote as corrections of another one: it has the columns `lote_state` and `lote_reason`. */
export function isCorrectionsFile(proof: Readonly<Record<string, unknown>>): boolean {
  const { dialect } = proof;
  return isPlainObject(dialect) && dialect['own'] === true;
}
