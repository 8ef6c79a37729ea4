/** batchId, workflowId, runId, version, paused, stop or null. Only a run that holds the claim has a word, and its latest one holds. */
export const RECORD_CONTROL = `/* record-control */
UPDATE batch SET state = CASE WHEN $5::text::boolean THEN 'paused' ELSE 'running' END, sending_stop = $6, control_version = $4
WHERE batch_id = $1 AND workflow_id = $2 AND run_id = $3 AND control_version <= $4 AND state IN ('running', 'paused')
RETURNING batch_id`;

export interface SendingBatchRow {
  readonly batch_id: string;
  readonly workflow_id: string;
  readonly run_id: string;
}

/** batchIds. */
export const SENDING_BATCHES = `/* sending-batches */
SELECT batch_id, workflow_id, run_id FROM batch
WHERE batch_id = ANY($1::text[]) AND state IN ('running', 'paused') AND sending_stop IS NULL`;
