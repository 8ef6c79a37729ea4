import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stageInvoice } from '../../../activities/batch/stage-groups.ts';
import { hashFile } from '../../../src/ingest/file-chunks.ts';
import { createFileReader } from '../../../src/app/files/input-files.ts';
import { expectAgreement, withStack, type ReportDocument, type TestStack } from '../../support/lote/stack.ts';
import { ownName, type TestInvoice } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';
import type { BatchClaim } from '../../../src/domain/records/batch-record.ts';
import type { StageInvoice } from '../../../src/ledger/staging/stage-invoices.ts';

const FILE = [{ ref: 'A' }, { ref: 'B' }, { ref: 'C' }];
/** Temporal knows no run with this id. */
const FORGOTTEN = '00000000-0000-4000-8000-000000000000';

describe('a batch whose run was lost', { concurrent: true }, () => {
  it('is closed by reconciliation with a balanced report, and goes on when its file is dropped again', async () => {
    // Nothing settles by itself before the run is gone.
    await withStack({ webhooks: 'none', sandbox: { settleMs: 3_000 } }, async (stack) => {
      const { handle, batchId } = await stack.begin('lost.csv', FILE);
      await until(async () => (await stack.progress(handle)).pagesSent === 1);
      await handle.terminate('a click in the Temporal UI');

      const { orphans, reports } = await stack.reconcile();

      expect(orphans).toEqual([batchId]);
      expect(reports).toContain(batchId);
      expect(await stack.ledger.findBatch(batchId)).toMatchObject({ state: 'finished' });
      const report = await reportOf(stack, batchId);
      expect(report.batch.state).toBe('finished');
      expect(report.invoices.every(({ state }) => ['unsettled', 'issued'].includes(state))).toBe(true);
      await until(async () => {
        await stack.reconcile();
        return (await stack.lines(batchId)).every(({ state }) => state === 'issued');
      });
      await expectAgreement(stack, batchId);
    });
  });

  it('sends nothing of what a dead process had to send until a person runs its file, however often it is reconciled', async () => {
    await withStack({}, async (stack) => {
      const { batchId } = await frozenBy(await terminatedRun(stack, 'wrong.csv'), stack, 'wrong.csv');

      expect(await stack.reconcile()).toMatchObject({ orphans: [batchId], repeated: 0 });
      expect(stack.posts()).toEqual([]);
      expect((await stack.lines(batchId)).map(({ state, reason }) => [state, reason?.code])).toEqual(
        FILE.map(() => ['unknown', 'run-lost']),
      );

      for (const _ of [1, 2]) expect(await stack.reconcile()).toMatchObject({ orphans: [], repeated: 0 });
      expect(stack.posts()).toEqual([]);
      await stack.run('wrong.csv', FILE);
      expect(stack.posts()).toHaveLength(FILE.length);
    });
  });

  it('while its file was read is refused with a report that says so, and is read anew when it is dropped again', async () => {
    await withStack({}, async (stack) => {
      const { batchId } = await claimedByNobody(stack, 'half-read.csv');

      const { orphans } = await stack.reconcile();

      expect(orphans).toEqual([batchId]);
      const report = await reportOf(stack, batchId);
      expect(report).toMatchObject({ batch: { state: 'refused' }, fileFindings: [{ code: 'run-lost' }] });
      const again = await stack.run('half-read.csv', FILE);
      expect(again).toMatchObject({ batchId, state: 'finished', counts: { issued: 3 } });
    });
  });

  it('while a correction was read leaves what it corrects as it was: the earlier file then sends it', async () => {
    await withStack({}, async (stack) => {
      const first = await stack.run('to-correct.csv', FILE, { expectInvoices: 99 });
      const before = await stack.lines(first.batchId);
      const corrected = FILE.map(({ ref }) => ({ ref, unitPrice: '77' }));
      const claim = await claimedByNobody(stack, 'corrected.csv', corrected);
      await stageFile(stack, claim, 'corrected.csv');

      const { orphans } = await stack.reconcile();

      expect(orphans).toEqual([claim.batchId]);
      expect(await stack.lines(first.batchId)).toEqual(before);
      const again = await stack.run('to-correct.csv', FILE);
      expect(again).toMatchObject({ batchId: first.batchId, state: 'finished', counts: { issued: 3 } });
      await expectAgreement(stack, first.batchId);
    });
  });

  it('while its file was read sends, when it is dropped again, what a batch waits for that has sent its page meanwhile', async () => {
    await withStack({}, async (stack) => {
      const claim = await claimedByNobody(stack, 'shared.csv');
      await stageFile(stack, claim, 'shared.csv');
      const waiting = await stack.begin('waiting.csv', [...FILE, { ref: 'D' }]);
      await until(async () => (await stack.progress(waiting.handle)).pagesSent === 1);

      const again = await stack.run('shared.csv', FILE);

      expect(again).toMatchObject({ batchId: claim.batchId, state: 'finished', counts: { issued: 3 } });
      expect(await waiting.handle.result()).toMatchObject({ state: 'finished', counts: { issued: 4 } });
      await expectAgreement(stack, waiting.batchId);
      expect(stack.posts()).toHaveLength(4);
    });
  });

  it('is left alone while its run lives, also when that run has just begun', async () => {
    await withStack({ sandbox: { settleMs: 1_500 } }, async (stack) => {
      const { handle, batchId } = await stack.begin('alive.csv', FILE);
      await until(async () => (await stack.ledger.findBatch(batchId)) !== null);

      const { orphans, reports } = await stack.reconcile();

      expect(orphans).toEqual([]);
      expect(reports).toEqual([]);
      expect(await handle.result()).toMatchObject({ state: 'finished', revision: 1, counts: { issued: 3 } });
    });
  });

  it('after it was closed and before its report was written gets its report', async () => {
    await withStack({}, async (stack) => {
      const claim = await claimedByNobody(stack, 'unreported.csv');
      const { batchId } = claim;
      await stack.ledger.refuseBatch(claim, { rows: 0, fileFindings: [], proof: {}, now: Date.now() });

      const { orphans, reports } = await stack.reconcile();

      expect({ orphans, reports }).toEqual({ orphans: [], reports: [batchId] });
      await access(join(stack.config.reportsDir, batchId, 'report.html'));
      expect((await stack.reconcile()).reports).toEqual([]);
    });
  });
});

interface Run {
  readonly workflowId: string;
  readonly runId: string;
}

/** A run that Temporal does not have. */
function lostRun(): Run {
  return { workflowId: ownName('lost'), runId: FORGOTTEN };
}

/** As an operator leaves it in the Temporal UI. */
async function terminatedRun({ client }: TestStack, file: string): Promise<Run> {
  const taskQueue = ownName('nobody');
  const handle = await client.workflow.start('invoiceBatch', { workflowId: taskQueue, taskQueue, args: [{ file }] });
  await handle.terminate('the wrong file');
  return { workflowId: handle.workflowId, runId: handle.firstExecutionRunId };
}

/** As the death of its worker leaves it: all of it was to be sent, and nobody knows whether anything left. */
async function frozenBy(run: Run, stack: TestStack, file: string): Promise<BatchClaim> {
  const { ledger } = stack;
  const claim = await claimedBy(run, stack, file);
  const proof = await stageFile(stack, claim, file);
  const rows = FILE.length;
  const counts = { rows, rowsWithoutInvoice: 0, invoices: rows, pageSize: rows };
  await ledger.finishStaging(claim, { ...counts, fileFindings: [], proof });
  const bodies = (await ledger.sendable(claim.batchId, 1, rows)).map((invoice) => ({ ...invoice, body: '{}' }));
  await ledger.freeze(claim.batchId, bodies, Date.now());
  return claim;
}

/** As a run leaves it that Temporal has forgotten. */
async function claimedByNobody(
  stack: TestStack,
  file: string,
  invoices: readonly TestInvoice[] = FILE,
): Promise<BatchClaim> {
  return claimedBy(lostRun(), stack, file, invoices);
}

async function claimedBy(
  run: Run,
  stack: TestStack,
  file: string,
  invoices: readonly TestInvoice[] = FILE,
): Promise<BatchClaim> {
  await stack.drop(file, invoices);
  const sha256 = await hashFile(join(stack.config.inputDir, file));
  const { application } = stack.config;
  const batchId = `${application}-batch-${file.replace('.csv', '')}-${sha256.slice(0, 8)}`;
  const { batch } = await stack.ledger.claimBatch({
    ...{ batchId, application, file, sha256, attempt: 1, now: Date.now() },
    ...{ ...run, takeOver: false, order: 'person' },
  });
  return batch;
}

/** As a run does it that ends before it has said so. Returns how the file was read. */
async function stageFile(
  { config, ledger }: TestStack,
  claim: BatchClaim,
  file: string,
): Promise<Readonly<Record<string, unknown>>> {
  const files = createFileReader(config);
  const rows = files.rows(ledger.rowStore(claim));
  const { signal } = new AbortController();
  const read = await files.read({ path: join(config.inputDir, file), store: rows, options: {}, signal });
  if (!read.ok) throw new Error(`The file ${file} was refused`);
  const staged: StageInvoice[] = [];
  for await (const group of rows.groups()) {
    for (const one of files.toInvoices(group, read.conversion))
      staged.push(stageInvoice(config.application, staged.length + 1, one));
  }
  await ledger.stageInvoices(claim, staged, Date.now());
  return read.proof;
}

async function reportOf(stack: TestStack, batchId: string): Promise<ReportDocument> {
  return JSON.parse(await readFile(join(stack.config.reportsDir, batchId, 'report.json'), 'utf8')) as ReportDocument;
}
