import type { Column } from '../../domain/row.ts';
import type { KeptMapping } from '../mapping/file-mapper.ts';

/** What somebody reads who maps the columns of a file by hand. */
export interface MappingTexts {
  readonly title: string;
  /** The link on the page of a checked file. */
  readonly link: string;
  readonly note: string;
  readonly noTable: string;
  readonly column: string;
  readonly samples: string;
  readonly meaning: string;
  /** Accessible name of the choice for one column: `{column}`. */
  readonly meaningOf: string;
  readonly unnamed: string;
  readonly none: string;
  readonly referencePart: string;
  readonly separator: string;
  readonly meanings: Readonly<Record<Column, string>>;
  readonly text: string;
  readonly delimiter: string;
  readonly delimiters: { readonly ',': string; readonly ';': string; readonly tab: string; readonly '|': string };
  readonly sheet: string;
  readonly every: string;
  readonly everyNote: string;
  readonly taxes: string;
  readonly taxesNote: string;
  /** `{word}`. */
  readonly taxOf: string;
  readonly taxWord: string;
  readonly taxCode: string;
  readonly preview: string;
  readonly again: string;
  readonly missing: string;
  readonly twice: string;
  readonly result: string;
  readonly save: string;
  readonly saveNote: string;
  readonly name: string;
  readonly kept: Readonly<Record<Exclude<KeptMapping, 'saved'>, string>>;
}
