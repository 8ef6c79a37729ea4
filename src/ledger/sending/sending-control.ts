import type { SendingControlLedger } from '../../domain/ports/ledger/sending-control-ledger.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';

/** batchId, workflowId, runId, version, paused, stop or null. Only a run that holds the claim has a word, and its latest one holds. */
const RECORD_CONTROL = `/* record-control */
UPDATE batch SET state = CASE WHEN $5::text::boolean THEN 'paused' ELSE 'running' END, sending_stop = $6, control_version = $4
WHERE batch_id = $1 AND workflow_id = $2 AND run_id = $3 AND control_version <= $4 AND state IN ('running', 'paused')
RETURNING batch_id`;

interface SendingBatchRow {
  readonly batch_id: string;
  readonly workflow_id: string;
  readonly run_id: string;
}

/** batchIds. */
const SENDING_BATCHES = `/* sending-batches */
SELECT batch_id, workflow_id, run_id FROM batch
WHERE batch_id = ANY($1::text[]) AND state IN ('running', 'paused') AND sending_stop IS NULL`;

/** The operator's word about sending: written by the batch, read by every process that sends for it. */
export function createSendingControl(database: Database): SendingControlLedger {
  return {
    async recordControl({ batchId, workflowId, runId, version, paused, cancelled }) {
      const stop = cancelled ? 'cancelled' : paused ? 'paused' : null;
      const params = [batchId, workflowId, runId, version, String(paused), stop];
      return (await database.query(RECORD_CONTROL, params)).length > 0;
    },

    async sendingBatches(batchIds) {
      const rows = await database.query<SendingBatchRow>(SENDING_BATCHES, [arrayLiteral(batchIds)]);
      return rows.map((row) => ({ batchId: row.batch_id, workflowId: row.workflow_id, runId: row.run_id }));
    },
  };
}
