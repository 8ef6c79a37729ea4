import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { batchIdOf } from '../../../src/contract/batch-id.ts';
import type { NightlyRunEntry } from '../../../src/domain/ports/run-log.ts';
import type { BatchHandle } from '../../../src/wiring/temporal/batch-starter.ts';
import type { nightlyIssuance, NightlyResult } from '../../../workflows/nightly-issuance.ts';
import { simulatedEngine, type Engine } from '../../../src/sandbox/engine.ts';
import { expectAgreement } from '../../support/crash/agreement.ts';
import { gated } from '../../support/crash/gated-engine.ts';
import { batchFile, customerOf, testInvoices, type TestInvoice } from '../../support/files/batch-file.ts';
import { replay } from '../../support/lote/replay.ts';
import { withStack, type StackOptions, type TestStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';

/** Few requests at once, so that a pause leaves something to send. */
const QUICK: StackOptions = {
  env: { LOTE_DROP_STABLE_FOR: '5ms', LOTE_DROP_PATIENCE: '50ms', LOTE_PAGE_SIZE: '10' },
  profile: { limits: { maxConcurrency: 4 } },
};
const PAUSED = testInvoices(40, {}, 100);
const OTHER = testInvoices(1, {}, 500);
/** Answered before the service waits. */
const ANSWERED = 6;

function startNightly({ client, config }: TestStack, night: string) {
  return client.workflow.start<typeof nightlyIssuance>('nightlyIssuance', {
    ...{ workflowId: `${night}-${config.application}`, taskQueue: config.taskQueue, args: [{ timezone: 'UTC' }] },
  });
}

async function filesOf(night: NightlyResult): Promise<readonly NightlyRunEntry[]> {
  const { runs } = JSON.parse(await readFile(night.reports.json, 'utf8')) as {
    runs: { night: string; files: NightlyRunEntry[] }[];
  };
  return runs.find((run) => run.night === night.night)?.files ?? [];
}

/** The batch that a dropped file becomes. */
function batchOf({ client, config }: TestStack, name: string, content: readonly TestInvoice[]): BatchHandle {
  const sha256 = createHash('sha256').update(batchFile(content)).digest('hex');
  return client.workflow.getHandle(batchIdOf(config.application, name, sha256)) as BatchHandle;
}

function isOf(text: string, invoices: readonly TestInvoice[]): boolean {
  return invoices.some((invoice) => text.includes(`"${customerOf(invoice)}"`));
}

function postsOf({ posts }: TestStack, invoices: readonly TestInvoice[]): number {
  return posts().filter(({ body }) => isOf(body, invoices)).length;
}

interface GatedService {
  readonly options: StackOptions;
  /** The service says its final word about the other file. */
  readonly settleOther: () => void;
}

function gatedService(): GatedService {
  const issuing = simulatedEngine({ settleMs: 0 });
  const other = gated(issuing);
  const engine: Engine = {
    process: (invoice) => (isOf(invoice.text, OTHER) ? other.engine : issuing).process(invoice),
  };
  return { options: { ...QUICK, sandbox: { engine } }, settleOther: () => other.open() };
}

/** The service does not answer what comes after the first invoices of the file to be paused, until it is let go. */
function gate(stack: TestStack): () => void {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  stack.front.script = async ({ path, body }) => {
    if (path === '/v1/invoices' && isOf(body, PAUSED) && postsOf(stack, PAUSED) > ANSWERED) await released;
    return 'pass' as const;
  };
  return release;
}

function pause(batch: BatchHandle): Promise<string> {
  return batch.executeUpdate<string, [{ reason: string }]>('pause', { args: [{ reason: 'a question' }] });
}

async function signalsOf({ client }: TestStack, workflowId: string): Promise<readonly string[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes?.signalName ?? []);
}

/** The batch has read the ledger since an operator's word, and has done what follows from it. */
async function hasRefreshed(batch: BatchHandle): Promise<boolean> {
  const { events } = await batch.fetchHistory();
  const refreshes = new Set(
    (events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'lookAtBatch' ? [String(eventId)] : [],
    ),
  );
  const read = (events ?? []).findIndex(({ activityTaskCompletedEventAttributes: completed }) =>
    refreshes.has(String(completed?.scheduledEventId)),
  );
  const since = read === -1 ? [] : (events ?? []).slice(read);
  return since.some(({ workflowTaskCompletedEventAttributes: done }) => (done ?? null) !== null);
}

async function signalsBy(batch: BatchHandle): Promise<readonly string[]> {
  const { events } = await batch.fetchHistory();
  return (events ?? []).flatMap(
    (event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes?.signalName ?? [],
  );
}

describe('a batch that an operator has paused', { concurrent: true, timeout: 180_000 }, () => {
  it('keeps no night waiting: the night names it and ends, later ones go on, and it is sent when it is resumed', async () => {
    const { options, settleOther } = gatedService();
    settleOther();
    await withStack(options, async (stack) => {
      const release = gate(stack);
      await stack.drop('paused.csv', PAUSED);
      await stack.drop('other.csv', OTHER);
      const first = await startNightly(stack, 'night-1');
      await until(() => postsOf(stack, PAUSED) > ANSWERED);
      const batch = batchOf(stack, 'paused.csv', PAUSED);
      await pause(batch);
      release();

      const night = await first.result();

      expect(night).toMatchObject({ files: 2, problems: 1 });
      const file = (await filesOf(night)).find(({ name }) => name === 'paused.csv');
      expect(file).toMatchObject({
        ...{ verdict: 'attention', waitsFor: 'resume', batchId: batch.workflowId, invoices: 40, report: null },
      });
      expect(file?.issued).toBeLessThan(40);
      const page = await readFile(night.reports.html, 'utf8');
      expect(page).toContain('1 of 2 files needs somebody.');
      expect(page).toContain('An operator has paused it, and the night did not wait');
      expect(await readdir(join(stack.config.inputDir, 'in-progress')).catch(() => [])).toEqual([]);
      expect((await batch.describe()).status.name).toBe('RUNNING');

      // The same bytes, dropped again: a run beside it waits for the batch, and its night does not.
      await stack.drop('again.csv', PAUSED);
      await stack.drop('new.csv', testInvoices(2, {}, 900));
      const next = await (await startNightly(stack, 'night-2')).result();
      expect(next).toMatchObject({ files: 2, problems: 1 });
      const again = (await filesOf(next)).find(({ name }) => name === 'again.csv');
      expect(again).toMatchObject({ verdict: 'attention', waitsFor: 'resume', batchId: batch.workflowId });

      await batch.executeUpdate<string, []>('resume');
      const result = await batch.result();
      expect(result.counts).toMatchObject({ issued: 40 });
      expect(await readFile(result.reports.html, 'utf8')).toContain('paused.csv');
      const batches = [...(await filesOf(night)), ...(await filesOf(next))].flatMap(({ batchId }) => batchId ?? []);
      await expectAgreement(stack, ...new Set(batches));
      for (const id of [first.workflowId, `night-2-${stack.config.application}`, batch.workflowId])
        await replay(stack, id);
    });
  });

  it('is a part of its night when nothing of it is left to send, and keeps no night waiting in which it is dropped again', async () => {
    const { options, settleOther } = gatedService();
    await withStack(options, async (stack) => {
      await stack.drop('other.csv', OTHER);
      const first = await startNightly(stack, 'night-1');
      const batch = batchOf(stack, 'other.csv', OTHER);
      await until(
        async () => (await batch.query<{ pagesSent: number }>('progress').catch(() => null))?.pagesSent === 1,
      );
      await pause(batch);
      await until(() => hasRefreshed(batch));

      expect(await signalsBy(batch)).not.toContain('batchPaused');
      await stack.drop('again.csv', OTHER);
      const next = await startNightly(stack, 'night-2');
      // The run beside it cannot know that no page of it waits.
      expect(await next.result()).toMatchObject({ files: 1, problems: 1 });
      settleOther();

      expect(await first.result()).toMatchObject({ files: 1, problems: 0 });
      expect(await signalsOf(stack, first.workflowId)).not.toContain('batchPaused');
      for (const id of [first.workflowId, next.workflowId, batch.workflowId]) await replay(stack, id);
    });
  });

  it('is a part of its night when it is resumed while another file is under way', async () => {
    const { options, settleOther } = gatedService();
    await withStack(options, async (stack) => {
      const release = gate(stack);
      await stack.drop('paused.csv', PAUSED);
      await stack.drop('other.csv', OTHER);
      const night = await startNightly(stack, 'night');
      // The other file is sent later: what the service does not answer has all permits.
      await until(() => postsOf(stack, PAUSED) > ANSWERED);
      const batch = batchOf(stack, 'paused.csv', PAUSED);
      await pause(batch);
      release();
      await until(async () => (await signalsOf(stack, night.workflowId)).includes('batchPaused'));

      const { running } = await night.query<{ running: readonly string[] }>('night');
      expect(running.toSorted()).toEqual(['other.csv', 'paused.csv']);
      await batch.executeUpdate<string, []>('resume');
      expect((await batch.result()).counts).toMatchObject({ issued: 40 });
      settleOther();

      expect(await night.result()).toMatchObject({ files: 2, problems: 0 });
      await replay(stack, night.workflowId);
    });
  });
});
