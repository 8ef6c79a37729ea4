import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import type { PageReview } from '../../activities/settling/settle.ts';
import type { SliceResult } from '../../activities/sending/slice.ts';
import type { PageInput, PageResult } from '../../src/contract/messages.ts';
import { pageWorkflowId } from '../../workflows/page/page-workflow-id.ts';
import { expectAgreement } from '../support/crash/agreement.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import { gatedEngine } from '../support/crash/gated-engine.ts';
import { withStack, type TestStack } from '../support/lote/stack.ts';
import { until } from '../support/until.ts';

/** `MOST_EVENTS` of workflows/history-limit.ts, and what one round makes until it is looked at again. */
const MOST_EVENTS = 2_300;
const SIGNALS_AT_ONCE = 100;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** 24 days at a probe a minute are no other way through the workflow, but a quarter of an hour of this machine. */
const PROBE_EVERY_MS = 10 * MINUTE_MS;

interface Run {
  readonly runId: string;
  readonly events: number;
}

/** The runs of one workflow id so far, the newest first: each names the one that it went on in. */
async function runsOf(client: TestStack['client'], workflowId: string, firstRunId: string): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (let runId: string | null = firstRunId; runId !== null;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ runId, events: events?.length ?? 0 });
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? null;
  }
  return runs;
}

describe('a page that waits', { timeout: 300_000 }, () => {
  it('goes on in further runs when its history becomes long: nothing is lost on the way, its batch and operators do not notice', async () => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      await stack.drop('slow.csv', testInvoices(3));
      const { batchId, handle } = await stack.start({ file: 'slow.csv' });
      await until(async () => (await stack.progress(handle)).phase === 'waiting');
      const pageId = pageWorkflowId(batchId, 1);
      const page = stack.client.workflow.getHandle(pageId);
      // The batch waits for the first invoices, too, before it starts a page.
      await until(() => page.describe().then(Boolean, () => false));
      const first = (await page.describe()).runId;

      // Each is an event, and wakes the page for a look at the ledger, as a minute of waiting does. Some at a time, for a run cannot end while they come.
      while ((await page.describe()).runId === first) {
        for (let one = 0; one < SIGNALS_AT_ONCE; one += 1) await page.signal('settled', { ordinals: [1, 2, 3] });
        await until(async () => (await page.describe()).raw.pendingWorkflowTask === null);
      }
      await handle.executeUpdate<string, [{ reason: string }]>('pause', { args: [{ reason: 'a look' }] });
      await handle.executeUpdate<string, []>('resume');
      const asks = stack.front.requests.filter(({ method }) => method === 'GET').length;
      await handle.executeUpdate<string, []>('settleNow');
      await until(() => stack.front.requests.filter(({ method }) => method === 'GET').length >= asks + 3);
      const described = await page.describe();
      gate.open();

      expect((await handle.result()).counts).toMatchObject({ issued: 3 });
      expect(described.parentExecution?.workflowId).toBe(batchId);
      const runs = await runsOf(stack.client, pageId, first);
      expect(runs).toHaveLength(2);
      expect(Math.max(...runs.map(({ events }) => events))).toBeLessThan(MOST_EVENTS);
      await expectAgreement(stack, batchId);
    });
  });
});

const TEST_SERVER = process.env['TEMPORAL_TEST_SERVER'];
if (TEST_SERVER === undefined)
  console.log('24 days of waiting are not tried: TEMPORAL_TEST_SERVER names no time-skipping server of Temporal');

/**
 * The page's workflow alone, on a server that skips time: what the ledger and the service would say is told by the days that have passed.
 * The server is Maven's `io.temporal:temporal-test-server`; TEMPORAL_TEST_SERVER names a script that starts its class
 * `io.temporal.testserver.TestServer` with the arguments that the script was given.
 */
describe.skipIf(TEST_SERVER === undefined)('24 days', { timeout: 1_800_000 }, () => {
  it.each(['a slow engine', 'a service that is away'])('pass with %s, in runs of bounded length', async (what) => {
    const env = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: TEST_SERVER ?? '' } },
    });
    const began = await env.currentTimeMs();
    const passed = async (): Promise<boolean> => (await env.currentTimeMs()) - began >= 24 * DAY_MS;
    const closed: unknown[] = [];
    const activities = {
      async submitSlice(): Promise<SliceResult> {
        const over = what === 'a slow engine' || (await passed());
        if (over) return { accepted: 3, left: 0, stop: false, waiting: null };
        return { accepted: 0, left: 3, stop: false, waiting: { reason: 'http-503', probeAfterMs: PROBE_EVERY_MS } };
      },
      async reviewPage(): Promise<PageReview> {
        const settled = await passed();
        const accepted = settled ? 0 : 3;
        return { accepted, attached: 0, nextAskInMs: null, settleEndsInMs: settled ? null : 30 * DAY_MS };
      },
      closePage: async (input: unknown) => void closed.push(input),
    };
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: 'long',
      activities,
      workflowBundle: { codePath: inject('workflowBundle') },
    });
    const input: PageInput = {
      ...{ ledgerId: 'l', batchId: 'b', page: 1, firstOrdinal: 1, lastOrdinal: 3 },
      settings: { sliceSize: 1_000, settleMs: 30 * DAY_MS, sendMs: 30 * MINUTE_MS, patienceMs: 30 * DAY_MS },
      control: { paused: false, cancelled: false, outageOver: false, settleNow: 0 },
    };
    await worker.runUntil(async () => {
      const handle = await env.client.workflow.start<(input: PageInput) => Promise<PageResult>>('invoicePage', {
        ...{ workflowId: 'page', taskQueue: 'long', args: [input] },
      });
      const result = await handle.result();

      expect(result).toEqual({ unsettled: 0 });
      expect(closed).toMatchObject([{ ending: 'sent' }]);
      const runs = await runsOf(env.client, 'page', handle.firstExecutionRunId);
      const most = Math.max(...runs.map(({ events }) => events));
      console.log(`24 days with ${what}: ${runs.length} runs, ${most} events in the longest`);
      expect(most).toBeLessThan(MOST_EVENTS);
      expect(await passed()).toBe(true);
    });
    await env.teardown();
  });
});
