import { Connection } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { confirmLedgerCommand } from '../../../src/cli/commands/confirm-ledger.ts';
import { ownName } from '../../support/files/batch-file.ts';
import { NIGHT, reconcileAll, resultOf, scene, type Scene } from '../../support/lote/restore-scene.ts';
import { until } from '../../support/until.ts';

const server = inject('postgresUrl');

describe.skipIf(server === null)('one of the two databases lost while a batch runs', () => {
  /** A batch whose invoices are sent, and not settled, when Lote stops, which runs before. */
  async function stoppedBatch({ lote, sandbox }: Scene): Promise<string> {
    const { workflowId } = await lote.drop('night.csv', NIGHT);
    await until(() => Promise.resolve(sandbox.books().totals.invoices === NIGHT.length));
    await lote.stop();
    return workflowId;
  }

  it('Temporal kept, ledger restored: the run ends and says why, and the file dropped again issues once', async () => {
    const set = await scene(server, 3_000);
    const { lote, sandbox } = set;
    await lote.start();
    await lote.copyLedger();
    const workflowId = await stoppedBatch(set);

    await lote.restoreLedger();
    expect(await confirmLedgerCommand(lote.env)).toBe(0);
    await lote.start();
    const lost = lote.client().workflow.getHandle(workflowId);
    await expect(lost.result()).rejects.toMatchObject({ cause: { cause: { type: 'batch-not-found' } } });
    const again = await resultOf(lote, 'night.csv', NIGHT);

    expect(again).toMatchObject({ state: 'finished', counts: { issued: 6 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
  });

  it('ledger kept, Temporal lost: reconciliation closes the batch, and the file dropped again goes on', async () => {
    const set = await scene(server, 3_000);
    const { lote, sandbox } = set;
    await lote.start();
    await stoppedBatch(set);

    const TEMPORAL_NAMESPACE = ownName('restored');
    lote.set({ TEMPORAL_NAMESPACE });
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    const workflowExecutionRetentionPeriod = { seconds: 86_400 } as never;
    await connection.workflowService.registerNamespace({
      namespace: TEMPORAL_NAMESPACE,
      workflowExecutionRetentionPeriod,
    });
    await connection.close();
    // Before, a GET would say that it is being processed, and the next reconciliation would settle it.
    await until(() => Promise.resolve(sandbox.books().totals.issued === NIGHT.length));
    await lote.start();
    const { orphans } = await reconcileAll(lote);
    const again = await resultOf(lote, 'night.csv', NIGHT);

    expect(orphans).toHaveLength(1);
    expect(again).toMatchObject({ state: 'finished', counts: { issued: 6 } });
    expect(sandbox.books().totals).toMatchObject({ invoices: 6, issued: 6 });
    expect(sandbox.books().duplicates).toEqual([]);
  });
});
