import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { PageInput } from '../../src/domain/messages/messages.ts';
import { pageWorkflowId } from '../../src/domain/messages/batch-id.ts';
import { gatedEngine } from '../support/servers/service-front.ts';
import { expectAgreement, withStack, type TestStack, stop } from '../support/lote/stack.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import { until } from '../support/until.ts';

/** `MOST_EVENTS` of workflows/wait-at-most.ts, and what one round makes until it is looked at again. */
const MOST_EVENTS = 2_300;
const SIGNALS_AT_ONCE = 100;

interface Run {
  readonly runId: string;
  readonly events: number;
  readonly input: PageInput;
}

/** The runs of one workflow id so far, the newest first: each names the one that it went on in. */
async function runsOf(client: TestStack['client'], workflowId: string, firstRunId: string): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (let runId: string | null = firstRunId; runId !== null;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const [input] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    runs.push({
      runId,
      events: events?.length ?? 0,
      input: defaultPayloadConverter.fromPayload<PageInput>(input ?? {}),
    });
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? null;
  }
  return runs;
}

describe('a page that waits', () => {
  it('goes on in further runs when its history becomes long: nothing is lost on the way, its batch and operators do not notice', async () => {
    const gate = gatedEngine();
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle } = await stack.begin('slow.csv', testInvoices(3));
      await until(async () => (await stack.progress(handle)).phase === 'waiting');
      const pageId = pageWorkflowId(batchId, 1);
      const page = stack.client.workflow.getHandle(pageId);
      // The batch waits for the first invoices, too, before it starts a page.
      await until(() => page.describe().then(Boolean, () => false));
      const first = (await page.describe()).runId;
      await until(async () => (await stack.progress(handle)).pagesSent === 1);
      let signalledAt = Infinity;

      // Each is an event, and wakes the page for a look at the ledger, as a minute of waiting does. Some at a time, for a run cannot end while they come.
      while ((await page.describe()).runId === first) {
        for (let one = 0; one < SIGNALS_AT_ONCE; one += 1) await page.signal('settled', { ordinals: [1, 2, 3] });
        await until(async () => (await page.describe()).raw.pendingWorkflowTask === null);
        signalledAt = Math.min(signalledAt, Date.now());
      }
      await stop(handle);
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
      expect(runs[1]?.input.spent?.waitingSince, 'the wait goes on, and does not begin again').toBeLessThan(
        signalledAt,
      );
      expect(Math.max(...runs.map(({ events }) => events))).toBeLessThan(MOST_EVENTS);
      await expectAgreement(stack, batchId);
    });
  });
});
