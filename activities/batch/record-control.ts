import type { SendingControl } from '../../src/domain/ports/ledger/sending-control-ledger.ts';
import type { ActivityDeps } from '../deps.ts';

/** A pause, a resume or a cancellation of a batch, to be written where every sender reads it. */
export interface ControlInput extends SendingControl {
  readonly ledgerId: string;
}

/**
 * Writes a pause, a resume or a cancellation where every process that sends reads it. False: this run does not hold the
 * batch any more.
 */
export async function recordControl({ ledger }: ActivityDeps, input: ControlInput): Promise<boolean> {
  const { batchId, workflowId, runId, version, paused, cancelled } = input;
  return ledger.recordControl({ batchId, workflowId, runId, version, paused, cancelled });
}
