import type { DecimalProof } from './csv/decimal-evidence.ts';
import type { FindingList } from './findings.ts';
import type { IngestOptions } from './ingest-options.ts';
import type { Conversion, Dialect, Proof } from './ingest-result.ts';
import type { RowWriter } from './row-stores.ts';

/** One parse of one file: what it reads from, where it writes, and what it has counted when a refusal ends it. */
export interface Reading {
  /** UTF-8 bytes of the whole file, each time from its beginning. */
  readonly chunks: () => AsyncIterable<Uint8Array>;
  /** UTF-8 bytes of its beginning. */
  readonly head: Uint8Array;
  readonly hasCr: boolean;
  readonly writer: RowWriter;
  readonly findings: FindingList;
  readonly options: IngestOptions;
  /** What was decided so far: a file that is refused later on still shows how it was read. */
  readonly noteProof: (part: Proof) => void;
  readonly counts: { rows: number; rowsWithoutInvoice: number; rowsLost: number };
}

/** What a parse that was not refused gives. */
export interface Read {
  readonly dialect: Omit<Dialect, 'encoding' | 'bom'>;
  readonly conversion: Conversion;
  readonly decimal: DecimalProof;
  readonly proof: Proof;
}
