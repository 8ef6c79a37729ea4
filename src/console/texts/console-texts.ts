import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchState } from '../../domain/ports/ledger/batch-record.ts';
import type { MappingTexts } from './mapping-texts.ts';
import type { FigureTexts } from './figure-texts.ts';
import type { LookupTexts } from './lookup-texts.ts';
import type { OperatorTexts } from './operator-texts.ts';
import type { ProfileTexts } from './profile-texts.ts';
import type { NightTexts } from '../../texts/nights/night-texts.ts';
import type { Plural } from '../../texts/plural.ts';

/** Every text of the console. Names of states stay as they are: ledger, reports and pages use one word each. */
export interface ConsoleTexts extends OperatorTexts, ProfileTexts, LookupTexts, FigureTexts, NightTexts {
  /** Of the language itself, in the language. */
  readonly languageName: string;
  readonly batches: string;
  /** Of several: whose batch it is. */
  readonly application: string;
  /** On the button that shows one application's alone. */
  readonly filter: string;
  readonly health: string;
  readonly profile: string;
  readonly temporalUi: string;
  readonly skip: string;
  readonly timesIn: string;
  readonly noBatches: string;
  readonly file: string;
  readonly state: string;
  readonly progress: string;
  readonly invoices: string;
  readonly rows: string;
  readonly rowsWithoutInvoice: string;
  readonly started: string;
  readonly finished: string;
  readonly needAttention: Plural;
  /** Of a closed batch: staged, being sent, or accepted. */
  readonly stillUnderWay: Plural;
  /** Before the references of invoices that went out and may exist twice, or have failed. */
  readonly inDoubt: string;
  readonly nothingOpen: string;
  readonly problems: string;
  readonly all: string;
  readonly reference: string;
  readonly merchant: string;
  readonly customer: string;
  readonly net: string;
  readonly withoutAmount: string;
  readonly noCurrency: string;
  readonly reason: string;
  readonly serviceId: string;
  readonly attempts: string;
  readonly balance: string;
  readonly totals: string;
  readonly fileFindings: string;
  readonly finding: string;
  readonly severity: string;
  readonly severities: { readonly error: string; readonly warning: string; readonly info: string };
  readonly column: string;
  readonly row: string;
  readonly more: Plural;
  readonly report: string;
  readonly reportFiles: {
    readonly html: string;
    readonly csv: string;
    readonly json: string;
    readonly corrections: string;
  };
  readonly noReport: string;
  readonly details: string;
  readonly openInTemporal: string;
  readonly startInTemporal: string;
  readonly inputFor: string;
  readonly previous: string;
  readonly next: string;
  readonly page: string;
  readonly noInvoices: string;
  readonly notFound: string;
  readonly failure: string;
  readonly back: string;
  readonly healthDetail: string;
  readonly check: string;
  readonly result: string;
  readonly healthStates: { readonly ok: string; readonly trouble: string; readonly unknown: string };
  readonly live: string;
  /** Before sentences about a service profile that does not fit. */
  readonly misfits: string;
  readonly waitingForWorker: string;
  readonly setting: string;
  readonly value: string;
  /** What became of a batch, in a sentence. */
  readonly verdicts: {
    readonly staging: string;
    readonly running: string;
    readonly refused: string;
    readonly allIssued: Plural;
    readonly totalsDiffer: string;
    readonly notAll: Plural;
    /** Nothing needs somebody, and some of it is still on its way. */
    readonly underWay: Plural;
    readonly rowsLeft: Plural;
  };
  readonly useCorrections: string;
  readonly upload: {
    readonly title: string;
    readonly choose: string;
    readonly button: string;
    readonly promise: string;
  };
  readonly mapping: MappingTexts;
  readonly dryRun: {
    readonly title: string;
    readonly refused: string;
    readonly clean: Plural;
    readonly some: Plural;
    readonly rowsLeft: Plural;
    readonly start: Plural;
    readonly risk: string;
    readonly startNote: string;
    readonly correctFirst: string;
    readonly correctAgain: string;
    /** The verdict of a file whose bytes were started before with another reading. */
    readonly knownOtherwise: string;
    readonly readOtherwise: string;
    readonly readOtherwiseCure: string;
    readonly known: string;
    readonly howRead: string;
    readonly net: string;
    readonly noneOfNet: string;
    readonly findings: string;
    readonly noFindings: string;
    readonly firstBodies: string;
    readonly firstBodiesNote: string;
    readonly declare: string;
    readonly declareNote: string;
    readonly prove: string;
    readonly decimal: string;
    readonly comma: string;
    readonly point: string;
    readonly encoding: string;
    readonly duplicateRows: string;
    readonly refuseDuplicates: string;
    readonly keepDuplicates: string;
    readonly lookAlikes: string;
    readonly keepLookAlikes: string;
    readonly again: string;
  };
  readonly proof: {
    readonly encoding: string;
    readonly delimiter: string;
    readonly decimal: string;
    readonly header: string;
    readonly ignored: string;
    readonly proved: string;
    readonly declared: string;
    readonly witness: string;
    readonly column: string;
    readonly inFile: string;
    readonly either: string;
    /** Of a mark that is hard to see. */
    readonly marks: {
      readonly comma: string;
      readonly semicolon: string;
      readonly point: string;
      readonly tab: string;
      readonly bar: string;
    };
    readonly all: string;
  };
  readonly operations: {
    readonly title: string;
    readonly reason: string;
    readonly reasonNote: string;
    readonly pause: string;
    readonly resume: string;
    readonly cancel: string;
    readonly cancelNote: string;
    readonly paused: string;
    readonly waitingFor: string;
    readonly settleNow: string;
    readonly done: Readonly<Record<'pause' | 'resume' | 'cancelRemaining' | 'settleNow', string>>;
  };
  readonly invoice: {
    readonly title: string;
    readonly lines: string;
    readonly description: string;
    readonly quantity: string;
    readonly unitPrice: string;
    readonly taxCode: string;
    readonly noContent: string;
    readonly requests: string;
    readonly requestsNote: string;
    readonly notSent: string;
    readonly key: string;
    readonly generation: string;
    readonly firstSent: string;
    readonly accepted: string;
    readonly settled: string;
    readonly answer: string;
    readonly body: string;
    readonly webhooks: string;
    readonly noWebhooks: string;
    readonly received: string;
    readonly event: string;
    readonly history: string;
    readonly when: string;
    readonly what: string;
    readonly flags: string;
    readonly alsoIn: string;
  };
  readonly stuck: { readonly state: string; readonly sentence: string };
  readonly batchStates: Readonly<Record<BatchState, string>>;
  readonly states: Readonly<Record<Outcome, string>>;
}
