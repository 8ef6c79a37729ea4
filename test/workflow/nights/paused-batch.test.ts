import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { batchIdOf } from '../../../src/domain/messages/batch-id.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import { simulatedEngine, type Engine } from '../../../src/sandbox/engine.ts';
import { gated } from '../../support/servers/service-front.ts';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import {
  expectAgreement,
  replay,
  withStack,
  type TestStack,
  startNight,
  stop,
  filesOf,
} from '../../support/lote/stack.ts';
import { batchFile, customerOf, testInvoices, type TestInvoice } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';

/** Few requests at once, so that a pause leaves something to send. */
const QUICK: StackOptions = {
  env: { LOTE_DROP_STABLE_FOR: '5ms', LOTE_PAGE_SIZE: '10' },
  profile: { limits: { maxConcurrency: 4 } },
};
const PAUSED = testInvoices(40, {}, 100);
const OTHER = testInvoices(1, {}, 500);
/** Answered before the service waits. */
const ANSWERED = 6;

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

/** What the looks of a night found: the batches that wait for a person. */
async function looksOf({ client }: TestStack, workflowId: string): Promise<readonly string[]> {
  const events = (await client.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
  const looks = new Set(
    events.flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'waitingDrops' ? [String(eventId)] : [],
    ),
  );
  return events.flatMap(({ activityTaskCompletedEventAttributes: completed }) =>
    looks.has(String(completed?.scheduledEventId))
      ? [Buffer.from(completed?.result?.payloads?.[0]?.data ?? []).toString()]
      : [],
  );
}

describe('a batch that an operator has paused', { concurrent: true }, () => {
  it('keeps no night waiting: the night names it and ends, later ones go on, and it is sent when it is resumed', async () => {
    const { options, settleOther } = gatedService();
    settleOther();
    await withStack(options, async (stack) => {
      const release = gate(stack);
      await stack.drop('paused.csv', PAUSED);
      await stack.drop('other.csv', OTHER);
      const first = await startNight(stack);
      await until(() => postsOf(stack, PAUSED) > ANSWERED);
      const batch = batchOf(stack, 'paused.csv', PAUSED);
      await stop(batch);
      release();

      const night = await first.result();

      expect(night).toMatchObject({ files: 2, problems: 1 });
      const file = (await filesOf(night)).find(({ name }) => name === 'paused.csv');
      expect(file).toMatchObject({
        ...{ verdict: 'attention', waitsFor: 'resume', batchId: batch.workflowId, invoices: 40, report: null },
      });
      expect(file?.issued).toBeLessThan(40);
      const page = await readFile(night.reports.html, 'utf8');
      expect(page).toContain('1 of 2 files needs a person.');
      expect(page).toContain('An operator has paused it, and the night did not wait');
      expect(await readdir(join(stack.config.inputDir, 'in-progress')).catch(() => [])).toEqual([]);
      expect((await batch.describe()).status.name).toBe('RUNNING');

      // The same bytes, dropped again: a run beside it waits for the batch, and its night does not.
      await stack.drop('again.csv', PAUSED);
      await stack.drop('new.csv', testInvoices(2, {}, 900));
      const second = await startNight(stack);
      const next = await second.result();
      expect(next).toMatchObject({ files: 2, problems: 1 });
      const again = (await filesOf(next)).find(({ name }) => name === 'again.csv');
      expect(again).toMatchObject({ verdict: 'attention', waitsFor: 'resume', batchId: batch.workflowId });

      await batch.executeUpdate<string, []>('resume');
      const result = await batch.result();
      expect(result.counts).toMatchObject({ issued: 40 });
      expect(await readFile(result.reports.html, 'utf8')).toContain('paused.csv');
      const batches = [...(await filesOf(night)), ...(await filesOf(next))].flatMap(({ batchId }) => batchId ?? []);
      await expectAgreement(stack, ...new Set(batches));
      for (const id of [first.workflowId, second.workflowId, batch.workflowId]) await replay(stack, id);
    });
  });

  it('is a part of its night when nothing of it is left to send, and keeps no night waiting in which it is dropped again', async () => {
    const { options, settleOther } = gatedService();
    await withStack(options, async (stack) => {
      await stack.drop('other.csv', OTHER);
      const first = await startNight(stack);
      const batch = batchOf(stack, 'other.csv', OTHER);
      await until(
        async () => (await batch.query<{ pagesSent: number }>('progress').catch(() => null))?.pagesSent === 1,
      );
      await stop(batch);
      await stack.drop('again.csv', OTHER);
      const next = await startNight(stack);
      await until(async () => (await looksOf(stack, next.workflowId)).length > 0);
      settleOther();

      expect(await first.result()).toMatchObject({ files: 1, problems: 0 });
      expect(await next.result()).toMatchObject({ files: 1, problems: 0 });
      for (const id of [first.workflowId, next.workflowId, batch.workflowId]) await replay(stack, id);
    });
  });

  it('is a part of its night when it is resumed before the night has lost its patience', async () => {
    const { options, settleOther } = gatedService();
    const env = { ...options.env, LOTE_DROP_STABLE_FOR: '1s' };
    await withStack({ ...options, env }, async (stack) => {
      const release = gate(stack);
      await stack.drop('paused.csv', PAUSED);
      await stack.drop('other.csv', OTHER);
      const night = await startNight(stack);
      // The other file is sent later: what the service does not answer has all permits.
      await until(() => postsOf(stack, PAUSED) > ANSWERED);
      const batch = batchOf(stack, 'paused.csv', PAUSED);
      await stop(batch);
      release();
      await until(async () => (await looksOf(stack, night.workflowId)).at(-1)?.includes('paused') === true);

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
