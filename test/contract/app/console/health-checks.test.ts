import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { blankCalibration, type CalibrationState } from '../../../../src/domain/calibration-state.ts';
import type { HealthCheck } from '../../../../src/console/console-options.ts';
import { createHealthChecks, type HealthParts } from '../../../../src/app/console/console-parts.ts';
import { temporalClient } from '../../../support/servers/temporal-client.ts';
import { workerScope, queuePollers, workerIdentity } from '../../../../src/app/temporal/queue-pollers.ts';
import type { OpenBreaker } from '../../../../src/ledger/sending/service-use.ts';

const NOW = Date.UTC(2027, 0, 15, 12);

const nothing = () => Promise.resolve([]);
const open = () => Promise.resolve({ ...blankCalibration(), opened: NOW });

/** A ledger that knows nothing, but for these. */
const ledgerWith = (over: Partial<HealthParts['ledger']> = {}): HealthParts['ledger'] => ({
  ...{ breaker: () => Promise.resolve(null), lastDelivery: () => Promise.resolve(null), calibration: open, ...over },
});

async function checks(over: Partial<HealthParts['ledger']>): Promise<Record<string, HealthCheck>> {
  const health = createHealthChecks({
    ...{ ledger: ledgerWith(over), profileDigest: 'of this test', examined: nothing },
    ...{ serviceBaseUrl: 'https://service.example', now: () => NOW },
  });
  return Object.fromEntries((await health()).map((check) => [check.name, check]));
}

describe('the health of what the console cannot see', () => {
  it('is what the doctor finds, with what to do, and asks no more often than every ten seconds', async () => {
    let asked = 0;
    let now = NOW;
    const health = createHealthChecks({
      ...{ ledger: ledgerWith(), profileDigest: 'of this test', serviceBaseUrl: null, now: () => now },
      examined() {
        asked += 1;
        return Promise.resolve([
          { name: 'ledger', state: 'ok', detail: 'answers', cure: null },
          { name: 'worker', state: 'trouble', detail: 'Nobody works.', cure: 'Start one: lote worker.' },
        ] as const);
      },
    });

    const found = await health();
    await health();
    now += 10_000;
    await health();

    expect(found.map(({ name }) => name)).toEqual(['worker', 'last webhook', 'service profile']);
    expect(found[0]).toEqual({ name: 'worker', state: 'trouble', detail: 'Nobody works. Start one: lote worker.' });
    expect(asked).toBe(2);
  });

  it('says since when and why sending is stopped', async () => {
    const breaker: OpenBreaker = {
      ...{ baseUrl: 'x', openedAt: NOW - 60_000, probeAfter: NOW, probingUntil: null },
      reason: { code: 'http-401', message: 'The service answered 401.' },
    };

    expect((await checks({ breaker: () => Promise.resolve(breaker) }))['sending']).toEqual({
      ...{ name: 'sending', state: 'trouble' },
      detail: 'Sending is stopped since 2027-01-15T11:59:00.000Z: The service answered 401.',
    });
  });

  it.each([
    ['none came in a week', null, { state: 'unknown' }],
    ['one came', NOW - 5_000, { state: 'ok', at: NOW - 5_000 }],
  ])('tells of the last webhook: %s', async (_, last, notified) => {
    const since: number[] = [];
    const lastDelivery = async (from: number) => (since.push(from), last);

    expect((await checks({ lastDelivery }))['last webhook']).toMatchObject(notified);
    expect(since).toEqual([NOW - 7 * 86_400_000]);
  });

  it('tells whether the service profile is proved, and what does not fit', async () => {
    const of = async (state: Partial<CalibrationState>) => {
      const calibration = (digest: string) =>
        Promise.resolve({ ...blankCalibration(), ...(digest === 'of this test' && state) });
      return (await checks({ calibration }))['service profile'];
    };
    const refused = { code: 'deliveries-refused', message: '12 deliveries were refused' };
    const misfit = { ...refused, times: 12, firstAt: NOW - 9_000 };

    expect(await of({ found: [{ ...misfit, lastAt: NOW - 1_000 }] })).toEqual({
      ...{ name: 'service profile', state: 'trouble', at: NOW - 1_000 },
      detail: '12 deliveries were refused (deliveries-refused)',
    });
    expect(await of({ out: [{ batchId: 'b', ordinal: 1, at: NOW }] })).toMatchObject({
      ...{ state: 'unknown', detail: 'not proved yet: 1 of at most 20 invoices are out' },
    });
    expect(await of({ opened: NOW })).toMatchObject({ state: 'ok' });
  });
});

describe('the workers of a task queue', () => {
  const { client: newClient } = temporalClient();

  it('are told by what they keep', async () => {
    const client = newClient();
    const taskQueue = `queue-${randomUUID()}`;
    const scope = workerScope('ledger-1', { application: 'default' });
    const mine = workerIdentity(scope, { pid: 42, own: 'aa', build: '0.0.0+a' });
    const neighbour = workerIdentity(scope, { pid: 42, own: 'bb', build: '0.0.0+a' });
    const ask = (identity: string) =>
      client.connection.withDeadline(Date.now() + 2_500, () =>
        client.workflowService.pollWorkflowTaskQueue({
          ...{ namespace: 'default', taskQueue: { name: taskQueue, kind: 1 }, identity },
        }),
      );
    const listed = async () =>
      (await queuePollers(client, taskQueue)).map(({ identity, scope: kept }) => ({ identity, kept }));
    await Promise.all([ask(mine), ask(neighbour), ask('4711@host')]);

    expect(await listed()).toEqual(
      expect.arrayContaining([
        { identity: mine, kept: scope },
        { identity: neighbour, kept: scope },
        { identity: '4711@host', kept: null },
      ]),
    );
    expect(await listed()).toHaveLength(3);
  });
});
