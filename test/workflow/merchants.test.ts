import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../support/crash/agreement.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import type { FrontRequest } from '../support/servers/service-front.ts';
import { withStack } from '../support/lote/stack.ts';
import type { BatchHandle } from '../../src/wiring/temporal/batch-starter.ts';
import { until } from '../support/until.ts';

const GOOD = '501964843';
const BAD = '502757191';

function createsMerchant({ method, path }: FrontRequest): boolean {
  return method === 'POST' && path === '/v1/merchants';
}

function isCreationOf(request: FrontRequest, nif: string): boolean {
  return createsMerchant(request) && request.body.includes(`"${nif}"`);
}

function listsMerchants({ method, path }: FrontRequest): boolean {
  return method === 'GET' && path.startsWith('/v1/merchants');
}

/** How often the step that creates the merchants has ended. */
async function merchantTries(handle: BatchHandle): Promise<number> {
  const { events } = await handle.fetchHistory();
  const scheduled = new Map(
    (events ?? []).map(({ eventId, activityTaskScheduledEventAttributes: one }) => [
      String(eventId),
      one?.activityType?.name,
    ]),
  );
  const ended = (events ?? []).map(({ activityTaskCompletedEventAttributes: one }) =>
    scheduled.get(String(one?.scheduledEventId)),
  );
  return ended.filter((name) => name === 'ensureMerchants').length;
}

const TWO_MERCHANTS = [...testInvoices(5, { nif: GOOD }), ...testInvoices(5, { nif: BAD }, 6)];

describe('merchants', { concurrent: true, timeout: 180_000 }, () => {
  it('that the service refuses: their invoices are held, the others go', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = (request) => (isCreationOf(request, BAD) ? { status: 422 } : 'pass');

      const result = await stack.run('refused-merchant.csv', TWO_MERCHANTS);

      expect(result.counts).toMatchObject({ issued: 5, held: 5 });
      expect(await stack.line(result.batchId, 'F-6')).toMatchObject({
        state: 'held',
        reason: { code: 'merchant-refused' },
      });
      await expectAgreement(stack, result.batchId);
    });
  });

  it('whose details the file lacks are not created; their invoices come back in the corrections', async () => {
    await withStack({}, async (stack) => {
      const invoices = [...testInvoices(3, { nif: GOOD }), ...testInvoices(2, { nif: BAD, legalName: '' }, 4)];

      const result = await stack.run('no-details.csv', invoices);

      expect(result.counts).toMatchObject({ issued: 3, held: 2 });
      expect(await stack.line(result.batchId, 'F-4')).toMatchObject({ reason: { code: 'merchant-details-missing' } });
      expect(result.reports.corrections).not.toBeNull();
      expect(stack.front.requests.filter((request) => isCreationOf(request, BAD))).toEqual([]);
    });
  });

  it('are not created while the list cannot be read; when it can, the batch goes on', async () => {
    await withStack({}, async (stack) => {
      let unreadable = 2;
      stack.front.script = (request) => {
        if (!listsMerchants(request) || unreadable === 0) return 'pass';
        unreadable -= 1;
        return { status: 200, json: { data: 'nonsense' } };
      };

      const result = await stack.run('list.csv', testInvoices(3));

      expect(result.counts).toMatchObject({ issued: 3 });
      const order = stack.front.requests
        .filter((one) => listsMerchants(one) || createsMerchant(one))
        .map(({ method }) => method);
      expect(order).toEqual(['GET', 'GET', 'GET', 'POST']);
    });
  });

  it('whose list stays unreadable for longer than the patience: nothing is created, everything is held', async () => {
    await withStack({ env: { LOTE_OUTAGE_PATIENCE: '2s' } }, async (stack) => {
      stack.front.script = (request) => (listsMerchants(request) ? { status: 200, json: { data: [{}] } } : 'pass');

      const result = await stack.run('never-listed.csv', testInvoices(3));

      expect(result.counts).toMatchObject({ held: 3 });
      expect(await stack.line(result.batchId, 'F-1')).toMatchObject({ reason: { code: 'service-list-unreadable' } });
      expect(stack.front.requests.filter((one) => createsMerchant(one))).toEqual([]);
      expect(stack.posts()).toEqual([]);
    });
  });

  it('of which one gets no answer: its invoices are held, the others go', async () => {
    await withStack({ env: { LOTE_OUTAGE_PATIENCE: '3s' } }, async (stack) => {
      stack.front.script = (request) => (isCreationOf(request, BAD) ? { status: 500 } : 'pass');

      const result = await stack.run('stuck.csv', TWO_MERCHANTS);

      expect(result.counts).toMatchObject({ issued: 5, held: 5 });
      expect(await stack.line(result.batchId, 'F-6')).toMatchObject({ reason: { code: 'merchant-not-created' } });
      const keys = stack.front.requests.filter((request) => isCreationOf(request, BAD)).map(({ key }) => key);
      expect(keys.length).toBeGreaterThan(1);
      expect(new Set(keys).size).toBe(1);
    });
  });

  it('of which one is forbidden: its invoices are held, the others go', async () => {
    await withStack({ env: { LOTE_OUTAGE_PATIENCE: '3s' } }, async (stack) => {
      stack.front.script = (request) => (isCreationOf(request, BAD) ? { status: 403 } : 'pass');

      const result = await stack.run('forbidden-creation.csv', TWO_MERCHANTS);

      expect(result.counts).toMatchObject({ issued: 5, held: 5 });
      expect(await stack.line(result.batchId, 'F-6')).toMatchObject({ reason: { code: 'merchant-not-created' } });
      await expectAgreement(stack, result.batchId);
    });
  });

  it('of which none may be created: nothing is sent, and everything is held with that reason', async () => {
    await withStack({ env: { LOTE_OUTAGE_PATIENCE: '3s' } }, async (stack) => {
      stack.front.script = (request) => (createsMerchant(request) ? { status: 403 } : 'pass');

      const result = await stack.run('no-right.csv', TWO_MERCHANTS);

      expect(result.counts).toMatchObject({ held: 10 });
      expect(await stack.line(result.batchId, 'F-6')).toMatchObject({ reason: { code: 'http-403' } });
      expect(stack.posts()).toEqual([]);
    });
  });

  it('whose creation was lost are found in the list, and never created twice', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = (request) => (createsMerchant(request) && request.nth === 1 ? 'pass-and-cut' : 'pass');

      const result = await stack.run('lost-merchant.csv', TWO_MERCHANTS);

      expect(result.counts).toMatchObject({ issued: 10 });
      expect(stack.sandbox.books().totals.merchants).toBe(2);
    });
  });

  it('are not created for a batch that was cancelled before', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = (request) => (listsMerchants(request) ? { status: 503 } : 'pass');
      await stack.drop('cancelled.csv', testInvoices(3));
      const { handle } = await stack.start({ file: 'cancelled.csv' });

      await handle.executeUpdate<string, [{ reason: string }]>('cancelRemaining', { args: [{ reason: 'wrong file' }] });
      stack.front.script = () => 'pass';
      const result = await handle.result();

      expect(result).toMatchObject({ state: 'cancelled', counts: { held: 3 } });
      expect(await stack.line(result.batchId, 'F-1')).toMatchObject({ reason: { code: 'batch-cancelled' } });
      expect(stack.front.requests.filter((one) => createsMerchant(one))).toEqual([]);
    });
  });

  it('of a batch that is paused between two of them at the last try are created when it goes on', async () => {
    await withStack({ env: { LOTE_OUTAGE_PATIENCE: '2s' } }, async (stack) => {
      let lists = 0;
      let paused: Promise<void> | null = null;
      stack.front.script = async (request) => {
        if (listsMerchants(request)) return (lists += 1) < 3 ? { status: 503 } : 'pass';
        if (createsMerchant(request)) await (paused ??= pause());
        return 'pass';
      };
      await stack.drop('paused-merchants.csv', TWO_MERCHANTS);
      const { handle } = await stack.start({ file: 'paused-merchants.csv' });
      // A second after its answer nothing new leaves any process.
      const pause = async () => {
        await handle.executeUpdate<string, [object]>('pause', { args: [{ reason: 'a look' }] });
        await sleep(1_000);
      };
      await until(() => paused !== null);
      await until(async () => (await merchantTries(handle)) === 3);

      await handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: 10 });
    });
  });
});
