import type { BatchProgress } from '../../src/contract/messages.ts';
import type { Plural } from '../../src/texts/plural.ts';

/** What the Temporal UI shows of a run as "Current Details". Names of states, updates and queries stay as they are. */
export interface DetailsTexts {
  readonly phases: Readonly<Record<BatchProgress['phase'], string>>;
  readonly paused: string;
  readonly batch: string;
  readonly notRead: string;
  readonly report: string;
  readonly reportLater: string;
  readonly console: string;
  readonly now: string;
  readonly waitsFor: string;
  readonly nothing: string;
  readonly whatToDo: string;
  readonly unusualTotal: string;
  readonly serviceProfile: string;
  readonly invoices: string;
  readonly pages: string;
  readonly pagesOf: string;
  readonly pagesFailed: string;
  readonly cancelled: string;
  readonly nothingMore: string;
  readonly balance: string;
  readonly asOf: string;
  readonly state: string;
  readonly net: string;
  readonly ofFile: string;
  readonly goneOut: string;
  /** No worker of this process has it. */
  readonly applicationMissing: string;
  /** The one thing that helps now. */
  readonly next: {
    readonly folder: string;
    readonly ledger: string;
    readonly key: string;
    readonly profile: string;
    readonly forbidden: string;
    readonly firstInvoices: string;
    readonly leftAlone: string;
    readonly away: string;
    readonly lookAt: string;
    readonly confirm: string;
    readonly why: string;
    readonly resume: string;
    readonly settleNow: string;
    readonly problems: string;
    readonly nothing: string;
    readonly unreported: string;
    readonly refused: string;
    readonly allOut: string;
    readonly totalsDiffer: string;
    readonly contradicted: Plural;
    readonly notOut: Plural;
  };
  readonly night: {
    readonly summary: string;
    readonly night: string;
    readonly notOpened: string;
    readonly phases: Readonly<Record<'looking' | 'running' | 'done', string>>;
    readonly filesDone: string;
    readonly running: string;
    readonly more: string;
    readonly file: string;
    readonly outcome: string;
  };
  readonly reconciliation: Readonly<
    Record<
      | 'repeated'
      | 'found'
      | 'asked'
      | 'settled'
      | 'orphans'
      | 'reports'
      | 'unwritten'
      | 'service'
      | 'serviceAway'
      | 'profileFoundWrong',
      string
    >
  >;
}
