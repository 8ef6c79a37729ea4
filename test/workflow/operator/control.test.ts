import { describe, expect, it } from 'vitest';
import { gatedEngine } from '../../support/servers/service-front.ts';
import { expectAgreement, withStack, type TestStack, stop } from '../../support/lote/stack.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import { createRunDirectory } from '../../../src/app/temporal/run-directory.ts';
import { setTimeout as sleep } from 'node:timers/promises';

describe('an operator', { concurrent: true }, () => {
  it('pauses before the merchants: none is created until the batch goes on', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = ({ path }) => (path.startsWith('/v1/merchants') ? { status: 503 } : 'pass');
      const { handle } = await stack.begin('early.csv', testInvoices(3));
      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      await stop(handle);
      stack.front.script = () => 'pass';
      const looks = stack.front.requests.length;
      await new Promise((resolve) => setTimeout(resolve, 3_000));

      // One look may have been on its way.
      expect(stack.front.requests.length).toBeLessThanOrEqual(looks + 1);
      expect(stack.sandbox.books().totals.merchants).toBe(0);
      await handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: 3 });
    });
  });

  it('resumes a batch that waits for the service at once, without waiting for the end of a long wait', async () => {
    await withStack({}, async (stack) => {
      const baseUrl = stack.front.url;
      const reason = { code: 'http-503', message: 'HTTP 503' };
      // As far away as a clock that runs ahead may write it: beyond, the time counts as come.
      const probeAfter = Date.now() + 175_000;
      await stack.ledger.openBreaker({ baseUrl, reason, openedAt: Date.now(), probeAfter });
      const { handle } = await stack.begin('waits.csv', testInvoices(200));
      await until(async () => (await stack.progress(handle)).waitingFor === 'http-503');
      await stop(handle);
      await stack.ledger.closeBreaker(baseUrl);

      await handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: 200 });
      const waited = stack.posts().filter(({ at }) => at >= probeAfter);
      expect(waited, 'invoices that went only when the breaker was to be probed').toEqual([]);
    });
  });
});

const BATCHES = 12;
const INVOICES = 8;
const ORDERS = 3;

/** Pauses and resumes the batch again and again while it begins; the last word is to go on. */
async function pauseAndResume(handle: BatchHandle): Promise<void> {
  for (let orders = 0; orders < ORDERS;) {
    const isTaken = await stop(handle).then(
      () => true,
      () => false,
    );
    if (isTaken) {
      orders += 1;
      await handle.executeUpdate<string, []>('resume');
    }
  }
}

describe('a batch that is paused and resumed while its pages begin', () => {
  it('goes on with each page: one that was not there yet could not be notified', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '1' } }, async (stack) => {
      const ends = Array.from({ length: BATCHES }, async (_, at) => {
        const file = `batch-${at}.csv`;
        await stack.drop(file, testInvoices(INVOICES, {}, at * INVOICES + 1));
        const { handle } = await stack.start({ file });
        await pauseAndResume(handle);
        return handle.result();
      });

      for (const { counts } of await Promise.all(ends)) expect(counts).toMatchObject({ issued: INVOICES });
    });
  });
});

const PER_SECOND = 3;
/** What leaves in the 24 s for which the SDK keeps heartbeats back unless told otherwise. */
const UNTIL_A_LATE_HEARTBEAT = 24 * PER_SECOND;
/** Longer than from one POST to the next. */
const QUIET_MS = 4_000;

/** When nothing has left for a while. */
async function untilQuiet(stack: TestStack): Promise<void> {
  for (let posts = -1; posts !== stack.posts().length;) {
    posts = stack.posts().length;
    // oxlint-disable-next-line no-await-in-loop -- it waits for what does not come
    await sleep(QUIET_MS);
  }
}

describe('the run of a batch that is terminated', () => {
  it('stops sending with the next heartbeat of its slice', async () => {
    await withStack({ profile: { limits: { requestsPerSecond: PER_SECOND } } }, async (stack) => {
      const { handle } = await stack.begin('wrong.csv', testInvoices(150));
      // The first heartbeat of a slice is never kept back.
      await until(() => stack.posts().length > 6 * PER_SECOND);

      await handle.terminate('the wrong file');
      const before = stack.posts().length;
      await untilQuiet(stack);

      expect(stack.posts().length - before).toBeLessThan(UNTIL_A_LATE_HEARTBEAT / 2);
    });
  });
});

describe('a batch that is cancelled in the Temporal UI', { concurrent: true }, () => {
  it.each([
    ['while its pages are sent', '5', 'sending'],
    ['while it waits for final words', '50', 'waiting'],
  ])('ends, and reconciliation closes it: %s', async (_, pageSize, phase) => {
    const gate = gatedEngine();
    const slow = { profile: { limits: { maxConcurrency: 2 } }, env: { LOTE_PAGE_SIZE: pageSize } };
    await withStack({ ...slow, sandbox: { engine: gate.engine, latencyMs: 150 } }, async (stack) => {
      const { batchId, handle } = await stack.begin('cancelled.csv', testInvoices(40));
      await until(async () => stack.posts().length > 5 && (await stack.progress(handle)).phase === phase);

      await handle.cancel();

      await until(async () => (await handle.describe()).status.name === 'CANCELLED');
      const { runId } = await handle.describe();
      const run = { workflowId: batchId, runId };
      expect(await createRunDirectory(stack.client).stopOf(run)).toMatchObject({ what: 'cancelled' });
      gate.open();
      expect(await stack.reconcile()).toMatchObject({ orphans: [batchId] });
      await expectAgreement(stack, batchId);
      const again = await (await stack.start({ file: 'cancelled.csv' })).handle.result();
      expect(again.counts).toMatchObject({ issued: 40 });
      await expectAgreement(stack, batchId);
    });
  });
});
