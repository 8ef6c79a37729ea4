import type { Column } from '../../domain/row.ts';
import type { Finding } from '../../domain/invoice.ts';

/** What a column of a file means: a column of Lote, a part of the reference, which rows are invoices, or nothing. */
export type ColumnMeaning = Column | 'reference-part' | 'kind' | 'none';

/** The values of a column by which rows are invoices or are skipped. */
export interface KindValues {
  readonly skip: readonly string[];
  readonly invoices: readonly string[];
}

/** Something that a person should look at before confirming: a code, the column, and what it is compared with. */
export interface MappingLook {
  readonly code: 'differs' | 'same-reference' | 'digits' | 'merchants' | 'candidates';
  readonly header: string;
  readonly other: string;
}

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
  /** By place in the header; left out: no value is skipped. */
  readonly kinds?: ReadonlyMap<number, Partial<KindValues>>;
  readonly separator?: string;
  readonly constants: Readonly<Partial<Record<Column, string>>>;
  readonly taxCodes: ReadonlyMap<string, string>;
}

/** A column of the file, with what it means as things stand. */
export interface MappedColumn {
  /** '' where the header has no word: such a column cannot be chosen. */
  readonly header: string;
  readonly samples: readonly string[];
  readonly meaning: ColumnMeaning;
  /** Null unless it means which rows are invoices. */
  readonly kind: KindValues | null;
  /** False for a member of JSON that Lote reads: its place says what it means. */
  readonly isOpen: boolean;
}

/** The head of a file with the choices applied, and what a dry run says of them. */
export interface MappedFile {
  /** Row of the header, counted from 1. */
  readonly headerRow: number;
  readonly headerId: string;
  readonly columns: readonly MappedColumn[];
  readonly looks: readonly MappingLook[];
  readonly dialect: { readonly encoding: string; readonly delimiter: string } | null;
  /** Visible sheets of a workbook; empty for text. */
  readonly sheets: readonly string[];
  readonly sheet: string | null;
  readonly open: readonly Column[];
  readonly missing: readonly Column[];
  /** Columns of Lote that several columns of the file mean: nothing can be read so. */
  readonly twice: readonly Column[];
  readonly separator: string;
  /** Words of the tax column that are no codes of the service, with the code that they stand for, '' for none. */
  readonly taxWords: readonly { readonly word: string; readonly code: string }[];
  /** Null while columns are missing or meant twice. */
  readonly check: FileCheck | null;
  readonly suggestedName: string;
}

/** Whether a mapping was kept as a profile. `taken`: a profile of that name is there, and is never overwritten; `open`: columns are missing or meant twice, a dry run refuses the file, or its header is another than the one chosen for. */
export type KeptMapping = 'saved' | 'name' | 'taken' | 'open';

/** Maps the columns of a file by hand. */
export interface FileMapper {
  /** Null for what is no table. @throws LoteError `file-unreadable`, `usage` */
  readonly view: (file: string, choices: MappingChoices) => Promise<MappedFile | null>;
  /** Keeps the mapping as `profiles/NAME.json` of the input folder. @throws LoteError `folder-unusable`, and those of `view` */
  readonly save: (mapping: {
    readonly file: string;
    readonly choices: MappingChoices;
    readonly name: string;
    readonly by: string;
  }) => Promise<KeptMapping>;
}

/** What a dry run found; nothing left the machine. */
export interface FileCheck {
  readonly refused: boolean;
  readonly sha256: string;
  readonly proof: Readonly<Record<string, unknown>>;
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly rowsLost: number;
  readonly invoices: number;
  readonly invalid: number;
  /** By currency, of the valid invoices: what would be sent. */
  readonly netOfValid: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  /** Bytes of the first invoices, exactly as they would be sent; only the merchant's id is not known before. */
  readonly firstBodies: readonly string[];
  /** In what it is read otherwise now than when these bytes were started: a start would hold the rest of it. Left out or empty: in nothing. */
  readonly readOtherwise?: readonly string[];
}

/** What a person has seen before the start; a member that is left out is not compared. */
export interface CheckedBytes {
  readonly sha256?: string | undefined;
  /** SHA-256 of the mapping profile with which it was read; empty: without one. */
  readonly profile?: string | undefined;
}
