import { arrayLiteral } from '../database/sql.ts';
import type { Database } from '../database/database.ts';
import type { BatchStop, ClaimingRun, SendingControl } from '../../domain/records/batch-record.ts';

/** A batch that may send at this moment, and the run that holds its claim. */
export interface SendingBatch extends ClaimingRun {
  readonly batchId: string;
}

/**
 * batchId, workflowId, runId, version, paused, stop or null, JSON of the `BatchStop` or null. Only the run that holds the claim has a word, and its latest
 * one holds. A resume ends the stop.
 */
const RECORD_CONTROL = `/* record-control */
UPDATE batch SET state = CASE WHEN $5::text::boolean THEN 'paused' ELSE 'running' END, sending_stop = $6, control_version = $4,
  stopped = CASE WHEN $7::text IS NOT NULL THEN $7 WHEN sending_stop IS NULL THEN stopped END
WHERE batch_id = $1 AND workflow_id = $2 AND run_id = $3 AND control_version <= $4 AND state IN ('running', 'paused')
RETURNING batch_id`;

/** batchId, workflowId, runId, JSON of the `BatchStop` or null. An earlier stop says more than what was found later. Activities of a stopped run send nothing more. */
const RECORD_STOP = `/* record-stop */
UPDATE batch SET stopped = CASE WHEN $4::text IS NOT NULL THEN coalesce(stopped, $4) END,
  sending_stop = CASE WHEN $4::text IS NOT NULL THEN coalesce(sending_stop, 'ended') ELSE sending_stop END
WHERE batch_id = $1 AND workflow_id = $2 AND run_id = $3 AND state IN ('staging', 'running', 'paused')`;

/** batchIds. */
const SENDING_BATCHES = `/* sending-batches */
SELECT batch_id, workflow_id, run_id FROM batch
WHERE batch_id = ANY($1::text[]) AND state IN ('running', 'paused') AND sending_stop IS NULL`;

/** The operator's word about sending: written by the batch, read by every process that sends for it. */
export function createSendingControl(database: Database) {
  return {
    /** Writes the word of the run that holds the claim of an open batch. Returns false when the claim or a later word stands against it. */
    async recordControl(control: SendingControl): Promise<boolean> {
      const { batchId, workflowId, runId, version, paused, cancelled, order } = control;
      const what = cancelled ? 'cancelled' : paused ? 'paused' : null;
      const stop: BatchStop | null = what && { at: Date.now(), who: null, why: null, ...order, what };
      const params = [batchId, workflowId, runId, version, String(paused), what, stop && JSON.stringify(stop)];
      return (await database.query(RECORD_CONTROL, params)).length > 0;
    },

    /** Records why nothing more of an open batch goes, while this run holds its claim; null ends the stop. */
    async recordStop({ batchId, workflowId, runId }: SendingBatch, stop: BatchStop | null): Promise<void> {
      await database.query(RECORD_STOP, [batchId, workflowId, runId, stop && JSON.stringify(stop)]);
    },

    /** Those of the batches that are not closed, paused or cancelled. */
    sendingBatches: (batchIds: readonly string[]) =>
      database.query<SendingBatch>(SENDING_BATCHES, [arrayLiteral(batchIds)]),
  };
}
