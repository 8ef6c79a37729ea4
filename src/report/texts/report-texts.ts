import type { Outcome } from '../../domain/invoice-state.ts';
import type { Plural } from '../../texts/plural.ts';
import type { Doer } from '../doers.ts';
import type { ReportNote } from '../report-note.ts';
import type { ReportedBatchState } from '../report-model.ts';

type PluralNote = 'webhooks-unreadable' | 'webhooks-of-unknown-invoices' | 'registered-before';

/** Every text of report.html. Names of states stay as they are: ledger, report and console use one word each. */
export interface ReportTexts {
  readonly title: string;
  readonly batch: string;
  readonly application: string;
  readonly started: string;
  readonly startedAndFinished: string;
  readonly revision: string;
  readonly batchStates: Readonly<Record<ReportedBatchState, string>>;
  readonly invoices: Plural;
  readonly rows: Plural;
  /** Did everything go out. */
  readonly verdict: {
    readonly title: string;
    readonly refused: string;
    readonly allOut: string;
    readonly rowsLeft: string;
    readonly totalsDiffer: string;
    readonly notAll: Plural;
    readonly moneyOut: string;
    readonly partOf: string;
    readonly row: string;
    readonly refusedNext: string;
    readonly corrections: string;
    readonly correctionsHold: string;
    /** The same of a workbook. */
    readonly workbookHolds: string;
    readonly misfit: string;
  };
  readonly doers: Readonly<Record<Doer, string>>;
  /** Few words for headings, and what to do; null when there is nothing to do. */
  readonly states: Readonly<Record<Outcome, { readonly label: string; readonly next: string | null }>>;
  readonly reasons: {
    readonly title: string;
    readonly label: string;
    readonly state: string;
    readonly invoices: string;
    readonly reason: string;
    readonly examples: string;
  };
  readonly rowList: { readonly none: string; readonly named: Plural; readonly more: string };
  readonly totals: {
    readonly title: string;
    readonly note: string;
    readonly net: string;
    readonly noCurrency: string;
    readonly all: string;
    readonly number: string;
    readonly unreadable: string;
  };
  readonly file: {
    readonly title: string;
    readonly counts: string;
    readonly findings: string;
    readonly severity: string;
    readonly severities: Readonly<Record<'error' | 'warning' | 'info', string>>;
    readonly row: string;
    readonly column: string;
    readonly finding: string;
    readonly more: string;
  };
  readonly proof: {
    readonly title: string;
    readonly names: Readonly<Record<'encoding' | 'delimiter' | 'decimal' | 'ignored', string>>;
    readonly inColumn: string;
    readonly yes: string;
    readonly how: Readonly<Record<'proved' | 'declared', string>>;
    readonly witness: string;
    readonly marks: Readonly<Record<'comma' | 'semicolon' | 'point' | 'tab' | 'bar', string>>;
  };
  readonly settling: {
    readonly title: string;
    readonly sentence: string;
    readonly table: string;
    readonly within: string;
    readonly invoices: string;
  };
  readonly changes: {
    readonly label: string;
    readonly title: string;
    readonly none: string;
    /** Before the references. */
    readonly inDoubt: string;
    readonly was: string;
    readonly is: string;
    readonly invoices: string;
    readonly examples: string;
  };
  readonly audit: {
    readonly label: string;
    readonly title: string;
    readonly when: string;
    readonly who: string;
    readonly what: string;
    readonly why: string;
    readonly nobody: string;
    readonly risk: string;
    /** A word that is not here is shown as it is. */
    readonly actions: Readonly<
      Record<
        'retry' | 'pause' | 'resume' | 'cancel-remaining' | 'settle-now' | 'start' | 'reconcile' | 'confirm-total',
        string
      >
    >;
    readonly moves: Readonly<Record<'release' | 'regenerate' | 'repeat' | 'abandon', string>>;
  };
  readonly list: {
    readonly notOut: string;
    readonly inDoubt: string;
    readonly out: string;
    readonly rest: string;
    readonly and: string;
    readonly restPlaces: string;
    readonly range: string;
    readonly reference: string;
    readonly merchant: string;
    readonly net: string;
    readonly rows: string;
    readonly serviceId: string;
  };
  readonly notes: Readonly<Record<Exclude<ReportNote['kind'], PluralNote>, string>> &
    Readonly<Record<PluralNote, Plural>>;
}
