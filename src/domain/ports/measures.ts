import type { Outcome } from '../invoice-state.ts';
import type { BatchState } from './ledger/batch-record.ts';

/** What Lote asks of the service. */
export const SERVICE_OPERATIONS = [
  'create-invoice',
  'get-invoice',
  'list-merchants',
  'create-merchant',
  'register-webhook',
] as const;

/** One of `SERVICE_OPERATIONS`. */
export type ServiceOperation = (typeof SERVICE_OPERATIONS)[number];

/**
 * How a request ended: class of the HTTP status, `no-answer` when bytes may have left and no status came, `not-sent`
 * when none left.
 */
export const REQUEST_OUTCOMES = ['2xx', '3xx', '4xx', '429', '5xx', 'no-answer', 'not-sent'] as const;

/** One of `REQUEST_OUTCOMES`. */
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

/** Called when a request has its permit, after `waitedMs`; what it returns is called when the request has ended. */
export type MeasureRequest = (operation: ServiceOperation, waitedMs: number) => (outcome: RequestOutcome) => void;

/**
 * Called when a statement of the ledger has ended; `statement` is its name in the code, which holds no data. `failed`: the
 * database refused it or was away.
 */
export type MeasureStatement = (statement: string, ms: number, failed: boolean) => void;

/** A batch whose invoices are counted for the metrics. */
export interface MeasuredBatch {
  readonly batchId: string;
  readonly state: BatchState;
  /** Of its report: while a closed batch keeps it, its counts stay as they are. */
  readonly revision: number;
}

/** Invoices of one batch in one state. */
export interface MeasuredState {
  readonly state: Outcome;
  readonly invoices: number;
  /** First POST or acceptance of the oldest one without a final word, epoch milliseconds; null: none waits. */
  readonly oldestAt: number | null;
}

/** From acceptance to the final word of one invoice. */
export interface MeasuredLag {
  readonly state: 'issued' | 'failed';
  readonly ms: number;
}

/** What the metrics read of the ledger: few rows, and never while something waits for them. */
export interface MeasuringLedger {
  /** Numbers of the application's batches by state. */
  countBatches(application: string): Promise<Readonly<Partial<Record<BatchState, number>>>>;
  /**
   * At most `limit`, newest first: open batches, and those whose report left invoices without a final word, or held ones if they finished since `heldSince`;
   * after them the others that closed since `closedSince`. Times are epoch milliseconds.
   */
  measuredBatches(
    application: string,
    choice: { readonly closedSince: number; readonly heldSince: number; readonly limit: number },
  ): Promise<readonly MeasuredBatch[]>;
  measureInvoices(batchId: string): Promise<readonly MeasuredState[]>;
  /** Number of invoices that went out and are in doubt (`CONTRADICTIONS`): of open batches, and of those that closed, or whose report was written, since that epoch millisecond. */
  measureDoubt(application: string, choice: { readonly since: number }): Promise<number>;
  /** Of those among these invoices that are issued or failed. */
  measureLag(
    invoices: readonly { readonly batchId: string; readonly ordinal: number }[],
  ): Promise<readonly MeasuredLag[]>;
}
