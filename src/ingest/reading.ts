import type { DecimalProof } from './csv/decimal-evidence.ts';
import type { FindingList } from './findings.ts';
import type { IngestOptions } from './ingest-options.ts';
import type { Conversion, Dialect, Proof } from './ingest-result.ts';
import type { RowWriter } from './row-stores.ts';

/** One parse of one file: its output, and the counts so far if a refusal ends it. */
export interface ReadingBasis {
  readonly writer: RowWriter;
  readonly findings: FindingList;
  readonly options: IngestOptions;
  /** Records a decision as soon as it is made: a file that is refused later still shows how it was read. */
  readonly noteProof: (part: Proof) => void;
  readonly counts: { rows: number; rowsWithoutInvoice: number; rowsLost: number };
}

/** One parse of one text. */
export interface Reading extends ReadingBasis, Pick<Dialect, 'encoding' | 'bom'> {
  /** Returns the UTF-8 bytes of the whole file, each time from the beginning. */
  readonly chunks: () => AsyncIterable<Uint8Array>;
  /** UTF-8 bytes of the beginning of the file. */
  readonly head: Uint8Array;
  readonly hasCr: boolean;
}

/** The result of a parse that was not refused. */
export interface Read {
  readonly dialect: Dialect;
  readonly conversion: Conversion;
  readonly decimal: DecimalProof;
  readonly proof: Proof;
}
