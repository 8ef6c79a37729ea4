import { isPlainObject } from './plain-object.ts';

/** How the file of a corrections file was read: what its own rows, fewer than the file's, may not prove any more. */
export interface ReadAs {
  readonly quantity?: '.' | ',';
  readonly unit_price?: '.' | ',';
  /** Columns in which both marks occurred, so that a cell which reads both ways says nothing; in the order of the type. */
  readonly doubtful?: readonly ('quantity' | 'unit_price')[];
  /** Each long reference had lost digits in a spreadsheet, and nobody has said that they are right. */
  readonly references?: 'cut';
  readonly profile?: string;
  /** Declared by an operator; what the bytes prove comes before it. */
  readonly encoding?: string;
  /** One character, declared by an operator. */
  readonly delimiter?: string;
  /** Declared; `refuse` only where a profile may say the other. */
  readonly duplicateRows?: 'refuse' | 'keep';
}

/** Column (CSV) or member (JSON) of a corrections file that carries it; there only when it is needed. */
export const READ_AS = 'lote_read_as';

/** Column of a corrections file: cells of its row that a spreadsheet may change, as the dropped file had them, and what was wrong with the row and its cells do not show. */
export const ORIGINAL = 'lote_original';

/**
 * Number format of its cells in a workbook, as XLSX writes it. It changes no text, ODS can say it, and nobody chooses it: a spreadsheet has 15 digits of a number.
 * A workbook that was saved as CSV in between has lost it, and with it what only a workbook shows of a row: that it is hidden, which of its cells are merged,
 * the decimals behind those that are shown.
 */
export const ORIGINAL_FORMAT = '00000000000000000';

const WORD = { '.': 'point', ',': 'comma' } as const;

/** `quantity=comma unit_price=point profile=erp`; empty when there is nothing to say. */
export function readAsText(readAs: ReadAs): string {
  const { quantity, unit_price, doubtful, references, profile, encoding, delimiter, duplicateRows } = readAs;
  return [
    ...(quantity === undefined ? [] : [`quantity=${WORD[quantity]}`]),
    ...(unit_price === undefined ? [] : [`unit_price=${WORD[unit_price]}`]),
    ...(doubtful ?? []).map((column) => `doubt=${column}`),
    ...(references === undefined ? [] : [`references=${references}`]),
    ...(profile === undefined ? [] : [`profile=${profile}`]),
    ...(encoding === undefined ? [] : [`encoding=${encoding}`]),
    // By its number: a delimiter inside a cell would end it.
    ...(delimiter === undefined ? [] : [`delimiter=${delimiter.charCodeAt(0)}`]),
    ...(duplicateRows === undefined ? [] : [`duplicates=${duplicateRows}`]),
  ].join(' ');
}

/**
 * Reads what `readAsText` wrote. Words that it does not know, and values out of form, are left out; nothing is thrown.
 */
export function parseReadAs(text: string): ReadAs {
  const words = text.split(' ');
  const tokens = new Map(
    words.map((token): [string, string] => [token.split('=')[0] ?? '', token.split('=')[1] ?? '']),
  );
  const doubtful = (['quantity', 'unit_price'] as const).filter((column) => words.includes(`doubt=${column}`));
  const quantity = markOf(tokens.get('quantity'));
  const price = markOf(tokens.get('unit_price'));
  const profile = /^[a-z0-9][a-z0-9_-]*$/.exec(tokens.get('profile') ?? '')?.[0];
  const encoding = tokens.get('encoding');
  const duplicates = tokens.get('duplicates');
  const delimiter = /^\d{1,5}$/.exec(tokens.get('delimiter') ?? '')?.[0];
  return {
    ...(quantity === undefined ? {} : { quantity }),
    ...(price === undefined ? {} : { unit_price: price }),
    ...(doubtful.length === 0 ? {} : { doubtful }),
    ...(tokens.get('references') === 'cut' ? { references: 'cut' } : {}),
    ...(profile === undefined ? {} : { profile }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter: String.fromCharCode(Number(delimiter)) }),
    ...(duplicates === 'keep' || duplicates === 'refuse' ? { duplicateRows: duplicates } : {}),
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
