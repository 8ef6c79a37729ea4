import { describe, expect, it } from 'vitest';
import { Client } from '@temporalio/client';
import type { BatchRecord } from '../../../../src/domain/ports/ledger/batch-record.ts';
import { describeOrphaned, orphanedBatches, orphanedLines } from '../../../../src/wiring/operator/orphaned-batches.ts';

function batch(batchId: string, state: BatchRecord['state']): BatchRecord {
  return {
    ...{ batchId, state, application: 'default', file: `${batchId}.csv`, sha256: `hash-${batchId}` },
    ...{ workflowId: `workflow-${batchId}`, runId: 'run-1', temporalId: null, pageSize: 2_000, pages: 1, rows: 1 },
    ...{ rowsWithoutInvoice: 0, invoices: 1, startedAt: 0, finishedAt: null, revision: 0, fencingToken: 1, proof: {} },
  };
}

const ledger = {
  newestOpenBatches: () =>
    Promise.resolve([
      batch('reading', 'staging'),
      batch('sending', 'running'),
      batch('waiting', 'paused'),
      batch('lost', 'running'),
    ]),
};
const ALONE = { application: 'default', isOneOfSeveral: false };
const runs = { isOpen: (workflowId: string) => Promise.resolve(workflowId !== 'workflow-lost') };

describe('what an earlier owner left', () => {
  it('is every open batch, apart from those of the own files', async () => {
    expect(await orphanedBatches(ledger, runs, new Set(['hash-sending']))).toEqual({
      goingOn: ['reading', 'waiting'],
      withoutRun: ['lost'],
    });
  });

  it('keeps nobody from working where it cannot be read', async () => {
    const away = { newestOpenBatches: () => Promise.reject(new Error('the ledger is away')) };

    expect(await orphanedLines({ ledger: away, client: new Client() }, new Set(), ALONE)).toEqual([
      'What an earlier run left unfinished could not be read at this moment; `lote status` shows it.',
    ]);
  });

  it('is told in a sentence each: what goes on, and what must be run again', () => {
    expect(describeOrphaned({ goingOn: ['a', 'b'], withoutRun: ['c'] }, ALONE)).toEqual([
      'Also going on with what an earlier run left: a, b. It is not waited for.',
      'Left unfinished, and no run goes on with it: c. Run its file again to finish it; reconciliation (`lote reconcile`) closes it otherwise, with a report.',
    ]);
    expect(describeOrphaned({ goingOn: [], withoutRun: [] }, ALONE)).toEqual([]);
  });
});
