import type { SendingControlLedger } from '../../domain/ports/sending-control-ledger.ts';
import type { Database } from '../database/database.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import { RECORD_CONTROL, SENDING_BATCHES, type SendingBatchRow } from './sending-control-sql.ts';

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
