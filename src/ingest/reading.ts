import { type DecimalProof, DecimalEvidence } from './csv/decimal-evidence.ts';
import { type FindingList, Damage, Refusal, shorten } from './findings.ts';
import type { IngestOptions, Conversion, Dialect, Proof } from './ingest-result.ts';
import type { RowWriter } from './row-stores.ts';
import { READ_AS, parseReadAs } from '../domain/read-as.ts';
import { SkippedRows } from './profile/map-header.ts';

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

/** How Lote turns rows into invoices, and the part of it that the proof records. */
export interface Decided {
  readonly conversion: Conversion;
  readonly decimal: DecimalProof;
  readonly proof: Proof;
}

/** The result of a parse that was not refused. */
export interface Read extends Decided {
  readonly dialect: Dialect;
}

/** What a reader of rows works with. */
export type RowsOf = Omit<ReadingBasis, 'noteProof'>;
type Facts = Pick<Conversion, 'format' | 'labels' | 'lostReferences' | 'areReferencesCut'>;

/** What every reader of rows collects besides the rows, and how it decides from that what the rows mean. */
export class RowCollector {
  readonly damage = new Damage();
  protected readonly reading: RowsOf;
  protected readonly evidence = new DecimalEvidence();
  protected readonly skipped: SkippedRows;
  #readAs: string | null = null;

  constructor(reading: RowsOf) {
    this.reading = reading;
    this.skipped = new SkippedRows(reading.options);
  }

  /** Notes what a row of corrections states about its reading; all rows must hold the same text. @throws Refusal */
  protected noteReadAs(row: number, text: string): void {
    this.#readAs ??= text;
    if (text === this.#readAs) return;
    const message = `Row ${row}: expected ${READ_AS} "${shorten(this.#readAs, 80)}" as above, found "${shorten(text, 80)}". These rows come from files that are read in different ways: drop each corrections file alone`;
    throw new Refusal('corrections-mixed', message, { row });
  }

  noteSkipped(): void {
    for (const finding of this.skipped.findings()) this.reading.findings.add(finding);
  }

  /** Priority: the operator, the file's own statement, the profile, the default. @throws Refusal */
  decided(facts: Facts): Decided {
    const { options } = this.reading;
    const readAs = parseReadAs(this.#readAs ?? '');
    const decimal = this.evidence.decide(options.decimal ?? readAs.decimal ?? options.ofProfile?.decimal);
    const duplicateRows = options.duplicateRows ?? readAs.duplicateRows ?? options.ofProfile?.duplicateRows;
    const lookAlikes = options.lookAlikes ?? 'refuse';
    // Corrections have fewer references, and some are corrected, so that they may no longer show the cut.
    const isCut = lookAlikes === 'refuse' && (facts.areReferencesCut === true || readAs.references === 'cut');
    const areReferencesCut = isCut || undefined;
    const damaged = this.damage.toJSON();
    const taxCodes = options.taxCodes ?? null;
    return {
      conversion: {
        ...{ ...facts, damaged, taxCodes, lookAlikes, areReferencesCut },
        decimal: decimal.mark,
        duplicateRows: duplicateRows ?? 'refuse',
      },
      decimal,
      proof: { decimal, duplicateRows, areReferencesCut, correctedWith: readAs.profile },
    };
  }
}
