import type { Column } from '../../domain/row.ts';
import type { FileCheck } from '../file-check.ts';

/** What a column of a file means: a column of Lote, a part of the reference, or nothing. */
export type ColumnMeaning = Column | 'reference-part' | 'none';

/** What a person has chosen so far about how a file is read. What is left out is as the file shows it. */
export interface MappingChoices {
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly sheet?: string;
  readonly decimal?: ',' | '.';
  /** By place in the header, from 0. */
  readonly meanings: ReadonlyMap<number, ColumnMeaning>;
  /** The header for which the meanings were chosen: for another one they are proposed anew. */
  readonly headerId?: string;
  /** Between the parts of a reference. */
  readonly separator?: string;
  /** Values that every row has. */
  readonly constants: Readonly<Partial<Record<Column, string>>>;
  /** The file's word for a tax, and the service's code. */
  readonly taxCodes: ReadonlyMap<string, string>;
}

/** A column of the file, with what it means as things stand. */
export interface MappedColumn {
  /** '' where the header has no word: such a column cannot be chosen. */
  readonly header: string;
  /** Its first cells that are not empty. */
  readonly samples: readonly string[];
  readonly meaning: ColumnMeaning;
}

/** The head of a file with the choices applied, and what a dry run says of them. */
export interface MappedFile {
  /** Row of the header, counted from 1. */
  readonly headerRow: number;
  readonly headerId: string;
  readonly columns: readonly MappedColumn[];
  /** How its text is read; null for a workbook. */
  readonly dialect: { readonly encoding: string; readonly delimiter: string } | null;
  /** Visible sheets of a workbook; empty for text. */
  readonly sheets: readonly string[];
  readonly sheet: string | null;
  /** Columns of Lote that no column of the file means. */
  readonly open: readonly Column[];
  /** Those of them without which nothing can be read. */
  readonly missing: readonly Column[];
  /** Columns of Lote that several columns of the file mean: nothing can be read so. */
  readonly twice: readonly Column[];
  readonly separator: string;
  /** Words of the tax column that are no codes of the service, with the code that they stand for, '' for none. */
  readonly taxWords: readonly { readonly word: string; readonly code: string }[];
  /** Null while columns are missing or meant twice. */
  readonly check: FileCheck | null;
  /** A profile's name that the file's own name begins with. */
  readonly suggestedName: string;
}

/** Whether a mapping was kept as a profile. `taken`: a profile of that name is there, and is never overwritten; `open`: columns are missing or meant twice, a dry run refuses the file, or its header is another than the one chosen for. */
export type KeptMapping = 'saved' | 'name' | 'taken' | 'open';

/** Maps the columns of a file by hand. */
export interface FileMapper {
  /** Null for what is no table. @throws LoteError `file-unreadable`, `usage`, `checks-busy` */
  readonly view: (file: string, choices: MappingChoices) => Promise<MappedFile | null>;
  /** Keeps the mapping as `profiles/NAME.json` of the input folder. @throws LoteError `folder-unusable`, and those of `view` */
  readonly save: (mapping: {
    readonly file: string;
    readonly choices: MappingChoices;
    readonly name: string;
    /** Who saves it, for the audit. */
    readonly by: string;
  }) => Promise<KeptMapping>;
}
