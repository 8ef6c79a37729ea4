import type { BatchLedger, Ledger } from '../domain/ports/ledger.ts';

/** What the console reads; it never writes to the ledger itself. */
export type ConsoleLedger = Pick<
  BatchLedger,
  'listBatches' | 'findBatch' | 'countOutcomes' | 'fileFindings' | 'batchInvoices'
> &
  Pick<Ledger, 'id' | 'parkedDeliveries'>;

/** A run that another process hands over to the owner of the data directory. */
export interface RunRequest {
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Options of the command, as the owner's own command line would have them. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface RunAnswer {
  readonly batches: readonly { readonly batchId: string; readonly workflowId: string; readonly file: string }[];
}

/** What the console can set in motion; each is there only where the process that serves it can do it. */
export interface ConsoleActions {
  readonly run?: (request: RunRequest) => Promise<RunAnswer>;
}

/** One line of the health page. */
export interface HealthCheck {
  readonly name: string;
  readonly state: 'ok' | 'trouble' | 'unknown';
  /** What was found and, in trouble, what to do. Never a secret. */
  readonly detail: string;
}

export interface ConsoleOptions {
  readonly ledger: ConsoleLedger;
  readonly reportsDir: string;
  /** `temporalUi`: address of the Temporal UI, null when there is none. */
  readonly links: { readonly temporalUi: string | null; readonly namespace?: string };
  readonly version: string;
  /** Proof of the caller: needed for POSTs without a same-origin page, and for everything where `access` is `token`. */
  readonly token?: string;
  /** `loopback`: whoever reaches the address may read. `token`: nobody reads without the token. Default `loopback`. */
  readonly access?: 'loopback' | 'token';
  /** Host names, besides those of loopback, under which the console is reached. */
  readonly hosts?: readonly string[];
  readonly actions?: ConsoleActions;
  /** Checks of what the console cannot see itself: Temporal, service, receiver. */
  readonly health?: () => Promise<readonly HealthCheck[]>;
  /** IANA zone in which times are shown; default: the machine's. */
  readonly timeZone?: string;
  /** Told of errors that the caller must not see. */
  readonly onError?: (error: unknown) => void;
}
