import type { OperatorLinks, BatchProgress, BatchSnapshot } from '../../src/contract/messages.ts';

/** Everything that the current details of a batch are made of. */
export interface BatchView {
  readonly progress: BatchProgress;
  readonly snapshot: BatchSnapshot | null;
  readonly links: OperatorLinks | null;
  readonly attachedTo: string | null;
  readonly end: BatchEnd | null;
  /** The run has failed without a report, and reconciliation writes it; left out: it has not. */
  readonly isUnreported?: boolean;
}

/** End of a batch, for the details that the Temporal UI shows. */
export interface BatchEnd {
  readonly batchId: string;
  readonly links: OperatorLinks;
  readonly state: 'refused' | 'cancelled' | 'finished';
  /** Settled invoices that are not confirmed as issued, from the report; a refused file counts as one, and so do control totals that differ. Those in doubt count, too. */
  readonly problems: number;
  /** Of them, the invoices that went out and may exist twice, or have failed; left out: none. */
  readonly contradicted?: number;
  /** Nothing is wrong but the control totals that were declared; left out: it is not so. */
  readonly totalsDiffer?: boolean;
}
