import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { testInvoices } from '../support/files/batch-file.ts';
import { SANDBOX_KEY, type FrontRequest } from '../support/servers/service-front.ts';
import { withStack, type TestStack, stop } from '../support/lote/stack.ts';
import { confirmService as confirm } from '../../src/app/account/account-guard.ts';
import { readProfile } from '../../src/app/account/read-profile.ts';
import type { BatchHandle } from '../../src/app/temporal/batch-starter.ts';
import { until } from '../support/until.ts';

const GOOD = '501964843';
const BAD = '502757191';

function createsMerchant({ method, path }: FrontRequest): boolean {
  return method === 'POST' && path === '/v1/merchants';
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

function confirmService({ config, ledger }: TestStack): Promise<unknown> {
  const { application, service } = config;
  const account = service.kind === 'remote' ? service : null;
  return confirm({ ledger, application, account, profile: readProfile(config), now: Date.now() });
}

const TWO_MERCHANTS = [...testInvoices(5, { nif: GOOD }), ...testInvoices(5, { nif: BAD }, 6)];

describe('merchants', { concurrent: true }, () => {
  it('are not created for a batch that was cancelled before', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = (request) => (listsMerchants(request) ? { status: 503 } : 'pass');
      const { handle } = await stack.begin('cancelled.csv', testInvoices(3));

      await stop(handle, 'cancelRemaining', { reason: 'wrong file' });
      stack.front.script = () => 'pass';
      const result = await handle.result();

      expect(result).toMatchObject({ state: 'cancelled', counts: { held: 3 } });
      expect(await stack.line(result.batchId, 'F-1')).toMatchObject({ reason: { code: 'batch-cancelled' } });
      expect(stack.front.requests.filter((one) => createsMerchant(one))).toEqual([]);
    });
  });

  it.each([
    { made: 'anew, under the ids of each other', listed: (ids: readonly string[]) => ids.toReversed(), goes: 10 },
    { made: 'to vanish from the list', listed: () => [], goes: 0 },
  ])('that the service has made $made: nothing is sent for them until confirm-service', async ({ listed, goes }) => {
    await withStack({}, async (stack) => {
      await stack.run('before.csv', TWO_MERCHANTS);
      const answer = await fetch(`${stack.sandbox.url}/v1/merchants`, {
        headers: { authorization: `Bearer ${SANDBOX_KEY}` },
      });
      const { data } = (await answer.json()) as { data: { id: string; nif: string }[] };
      const ids = listed(data.map(({ id }) => id));
      const json = { data: data.slice(0, ids.length).map((one, at) => ({ ...one, id: ids[at] })), next_cursor: null };
      stack.front.script = (request) => (listsMerchants(request) ? { status: 200, json } : 'pass');
      const before = stack.front.requests.length;
      const next = [...testInvoices(5, { nif: GOOD }, 11), ...testInvoices(5, { nif: BAD }, 16)];

      const result = await stack.run('after.csv', next);

      expect(result.counts).toMatchObject({ held: 10 });
      expect(await stack.line(result.batchId, 'F-11')).toMatchObject({ reason: { code: 'merchant-id-changed' } });
      expect(stack.front.requests.slice(before).filter(({ method }) => method === 'POST')).toEqual([]);

      await confirmService(stack);
      stack.front.script = (request) => (goes > 0 && listsMerchants(request) ? { status: 200, json } : 'pass');
      const again = await stack.run('again.csv', next);

      expect(again.counts).toMatchObject({ issued: 10 });
      const sent = stack.posts().filter(({ body }) => ids.some((id) => body.includes(`"${id}"`)));
      expect(sent.length).toBeGreaterThanOrEqual(goes);
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
      const { handle } = await stack.begin('paused-merchants.csv', TWO_MERCHANTS);
      // A second after its answer nothing new leaves any process.
      const pause = async () => {
        await stop(handle);
        await sleep(1_000);
      };
      await until(() => paused !== null);
      await until(async () => (await merchantTries(handle)) === 3);

      await handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: 10 });
    });
  });
});
