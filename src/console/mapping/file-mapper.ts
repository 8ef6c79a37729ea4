import type { Column } from '../../domain/row.ts';
import type { Finding } from '../../domain/invoice.ts';

/** Meaning of a file's column: a column of Lote, a part of the reference, which rows are invoices, or nothing. */
export type ColumnMeaning = Column | 'reference-part' | 'kind' | 'none';

/** The values of a column that mark rows as invoices or as rows to skip. */
export interface KindValues {
  readonly skip: readonly string[];
  readonly invoices: readonly string[];
}

/** A point that a person should look at before confirming: a code, the column, and the column compared with it. */
export interface MappingLook {
  readonly code: 'differs' | 'same-reference' | 'digits' | 'merchants' | 'candidates';
  readonly header: string;
  readonly other: string;
}

/** A person's choices so far about how to read a file. A missing choice is as the file shows it. */
export interface MappingChoices {
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly sheet?: string;
  readonly decimal?: ',' | '.';
  /** By place in the header, from 0. */
  readonly meanings: ReadonlyMap<number, ColumnMeaning>;
  /** The header for which the person chose the meanings: for another header Lote proposes them anew. */
  readonly headerId?: string;
  /** By place in the header. Optional: by default no value is skipped. */
  readonly kinds?: ReadonlyMap<number, Partial<KindValues>>;
  readonly separator?: string;
  readonly constants: Readonly<Partial<Record<Column, string>>>;
  readonly taxCodes: ReadonlyMap<string, string>;
}

/** A column of the file with its current meaning. */
export interface MappedColumn {
  /** Empty if the header has no word: such a column cannot be chosen. */
  readonly header: string;
  readonly samples: readonly string[];
  readonly meaning: ColumnMeaning;
  /** Null unless the column says which rows are invoices. */
  readonly kind: KindValues | null;
  /** False for a member of JSON that Lote reads: its place decides its meaning. */
  readonly isOpen: boolean;
}

/** The head of a file with the choices applied, and the result of a dry run with them. */
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
  /** Columns of Lote that several columns of the file mean: Lote cannot read such a file. */
  readonly twice: readonly Column[];
  readonly separator: string;
  /** Words of the tax column that are not codes of the service, with the code for each word, or '' if it has none. */
  readonly taxWords: readonly { readonly word: string; readonly code: string }[];
  /** Null while columns of Lote are missing or meant twice. */
  readonly check: FileCheck | null;
  /** The mapping as the text of a profile. Null if it is incomplete, for another header, or refused by the dry run. */
  readonly profile: string | null;
  readonly suggestedName: string;
}

/** Outcome of a save. `taken`: Lote never overwrites a profile. `open`: missing columns, columns meant twice, a refused dry run, or a changed header. */
export type KeptMapping = 'saved' | 'name' | 'taken' | 'open';

/** Maps the columns of a file by hand. */
export interface FileMapper {
  /** Applies the choices; resolves to null if the file is not a table. @throws LoteError `file-unreadable`, `usage` */
  readonly view: (file: string, choices: MappingChoices) => Promise<MappedFile | null>;
  /** Saves the mapping as `profiles/NAME.json` of the input folder. @throws LoteError `folder-unusable`, and those of `view` */
  readonly save: (mapping: {
    readonly file: string;
    readonly choices: MappingChoices;
    readonly name: string;
    readonly by: string;
  }) => Promise<KeptMapping>;
}

/** The result of a dry run, which sends nothing from this machine. */
export interface FileCheck {
  readonly refused: boolean;
  readonly sha256: string;
  readonly proof: Readonly<Record<string, unknown>>;
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly rowsLost: number;
  readonly invoices: number;
  readonly invalid: number;
  /** Net by currency of the valid invoices, which Lote would send. */
  readonly netOfValid: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  /** Bytes of the first invoices, exactly as Lote would send them; only the merchant's id is unknown until then. */
  readonly firstBodies: readonly string[];
  /** How Lote reads these bytes differently from when they were started: a start would hold the rest. Missing or empty if there is no difference. */
  readonly readOtherwise?: readonly string[];
}

/** The bytes that a person has checked before the start; a missing member is not compared. */
export interface CheckedBytes {
  readonly sha256?: string | undefined;
  /** SHA-256 of the mapping profile with which the file was read; empty if none was used. */
  readonly profile?: string | undefined;
}
