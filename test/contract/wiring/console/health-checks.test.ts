import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { HealthCheck } from '../../../../src/console/console-options.ts';
import type { OpenBreaker } from '../../../../src/domain/ports/ledger/breaker-ledger.ts';
import { connectClient } from '../../../../src/wiring/temporal/connect-client.ts';
import { createHealthChecks, type HealthParts } from '../../../../src/wiring/console/health-checks.ts';
import {
  workerScope,
  queuePollers,
  deregisterWorker,
  workerIdentity,
} from '../../../../src/wiring/temporal/queue-pollers.ts';

const NOW = Date.UTC(2027, 0, 15, 12);

let client: Client;

beforeAll(async () => {
  client = await connectClient({ address: inject('temporalAddress') }, 'default');
});

afterAll(() => client.connection.close());

const nothing = () => Promise.resolve([]);

async function checks(over: Partial<HealthParts> = {}): Promise<Record<string, HealthCheck>> {
  const parts: HealthParts = {
    ledger: { breaker: () => Promise.resolve(null), lastDelivery: () => Promise.resolve(null), misfits: nothing },
    ...{ profileDigest: 'of this test', examined: nothing, serviceBaseUrl: 'https://service.example', now: () => NOW },
    ...over,
  };
  return Object.fromEntries((await createHealthChecks(parts)()).map((check) => [check.name, check]));
}

describe('the health of what the console cannot see', () => {
  it('is what the doctor finds, with what to do, and asks no more often than every ten seconds', async () => {
    let asked = 0;
    let now = NOW;
    const health = createHealthChecks({
      ledger: { breaker: () => Promise.resolve(null), lastDelivery: () => Promise.resolve(null), misfits: nothing },
      ...{ profileDigest: 'of this test', serviceBaseUrl: null, now: () => now },
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
    const ledger = {
      breaker: () => Promise.resolve(breaker),
      lastDelivery: () => Promise.resolve(null),
      misfits: nothing,
    };

    expect((await checks({ ledger }))['sending']).toEqual({
      ...{ name: 'sending', state: 'trouble' },
      detail: 'Sending is stopped since 2027-01-15T11:59:00.000Z: The service answered 401.',
    });
  });

  it.each([
    ['none came in a week', null, { state: 'unknown' }],
    ['one came', NOW - 5_000, { state: 'ok', at: NOW - 5_000 }],
  ])('tells of the last webhook: %s', async (_, last, notified) => {
    const since: number[] = [];
    const ledger = {
      breaker: () => Promise.resolve(null),
      lastDelivery(from: number) {
        since.push(from);
        return Promise.resolve(last);
      },
      misfits: nothing,
    };

    expect((await checks({ ledger }))['last webhook']).toMatchObject(notified);
    expect(since).toEqual([NOW - 7 * 86_400_000]);
  });

  it('tells what does not fit the service profile; what nothing proves is no trouble', async () => {
    const misfit = { message: '12 of 12 deliveries refused: no header', firstAt: NOW - 9_000, lastAt: NOW - 1_000 };
    const found = (code: string, times: number) =>
      checks({
        ledger: {
          breaker: () => Promise.resolve(null),
          lastDelivery: () => Promise.resolve(null),
          misfits: (digest) => Promise.resolve(digest === 'of this test' ? [{ ...misfit, code, times }] : []),
        },
      });

    expect((await found('deliveries-refused', 12))['service profile']).toEqual({
      ...{ name: 'service profile', state: 'trouble', at: NOW - 1_000 },
      detail: '12 of 12 deliveries refused: no header (deliveries-refused, noted 12 times)',
    });
    expect((await found('deliveries-unproven', 1))['service profile']).toMatchObject({ state: 'unknown' });
    expect((await checks())['service profile']).toMatchObject({ state: 'ok' });
  });
});

describe('the workers of a task queue', () => {
  it('are none where none ever asked', async () => {
    expect(await queuePollers(client, `never-${randomUUID()}`)).toEqual([]);
  });

  it('are told by what they keep, until they say goodbye, and again when they ask again', async () => {
    const taskQueue = `queue-${randomUUID()}`;
    const scope = workerScope('ledger-1', { application: 'default', isOneOfSeveral: false });
    const mine = workerIdentity(scope, 42, 'aa', null);
    const neighbour = workerIdentity(scope, 42, 'bb', null);
    const ask = (identity: string) =>
      client.connection.withDeadline(Date.now() + 2_500, () =>
        client.workflowService.pollWorkflowTaskQueue({
          ...{ namespace: 'default', taskQueue: { name: taskQueue, kind: 1 }, identity },
        }),
      );
    const listed = async () =>
      (await queuePollers(client, taskQueue)).map(({ identity, scope: kept }) => ({ identity, kept }));
    await Promise.all([ask(mine), ask(neighbour), ask('4711@host')]);
    expect(await listed()).toHaveLength(3);

    await deregisterWorker(client, taskQueue, mine);

    expect(await listed()).toEqual(
      expect.arrayContaining([
        { identity: neighbour, kept: scope },
        { identity: '4711@host', kept: null },
      ]),
    );
    expect(await listed()).toHaveLength(2);
    await ask(mine);
    expect(await listed()).toContainEqual({ identity: mine, kept: scope });
  });
});
