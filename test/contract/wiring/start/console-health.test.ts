import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { HealthCheck } from '../../../../src/console/console-options.ts';
import type { OpenBreaker } from '../../../../src/domain/ports/ledger.ts';
import { connectClient } from '../../../../src/wiring/temporal/connect-client.ts';
import { createHealthChecks, type HealthParts } from '../../../../src/wiring/start/console-health.ts';
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

/** A service, or a receiver, that answers everything with this status and date; a null date: it says none. */
async function listening(status: number, date: number | null = NOW): Promise<string> {
  const server = createServer((_, response) => {
    response.sendDate = false;
    if (date !== null) response.setHeader('date', new Date(date).toUTCString());
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const nothing = () => Promise.resolve([]);

async function checks(over: Partial<HealthParts> = {}): Promise<Record<string, HealthCheck>> {
  const parts: HealthParts = {
    ledger: { breaker: () => Promise.resolve(null), lastDelivery: () => Promise.resolve(null), misfits: nothing },
    profileDigest: 'of this test',
    ...{ client, taskQueue: `nobody-${randomUUID()}`, receiverUrl: null, now: () => NOW },
    serviceBaseUrl: over.serviceBaseUrl ?? (await listening(401)),
    ...over,
  };
  return Object.fromEntries((await createHealthChecks(parts)()).map((check) => [check.name, check]));
}

describe('the health of what the console cannot see', () => {
  it('is told part by part', async () => {
    const serviceBaseUrl = await listening(401);
    const receiverUrl = await listening(405);

    const { temporal, service, clock, receiver, ...others } = await checks({ serviceBaseUrl, receiverUrl });

    expect(temporal).toMatchObject({ state: 'ok', detail: expect.stringMatching(/^answers; server \d/u) as string });
    expect(service).toEqual({
      ...{ name: 'service', state: 'ok' },
      detail: `${serviceBaseUrl} answers (401 without a key); sending is open`,
    });
    expect(clock).toEqual({ name: 'clock', state: 'ok', detail: "agrees with the service's" });
    expect(receiver).toEqual({ name: 'receiver', state: 'ok', detail: `${receiverUrl} answers (405 to a GET)` });
    expect(Object.keys(others)).toEqual(['worker', 'last webhook', 'service profile']);
  });

  it('names the task queue on which nobody works, and what to start', async () => {
    const taskQueue = `empty-${randomUUID()}`;

    expect((await checks({ taskQueue }))['worker']).toEqual({
      ...{ name: 'worker', state: 'trouble' },
      detail: `Nobody works on task queue ${taskQueue}. Start one: lote worker`,
    });
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

    expect((await checks({ ledger }))['service']).toEqual({
      ...{ name: 'service', state: 'trouble' },
      detail: 'Sending is stopped since 2027-01-15T11:59:00.000Z: The service answered 401.',
    });
  });

  it.each([
    ['a second', 1_000, 'ok', "agrees with the service's"],
    ['thirty seconds and the second that the header rounds away', 31_000, 'ok', "30 s from the service's"],
    ['more', 33_000, 'trouble', "32 s from the service's. Set this machine's clock (NTP)."],
    ['more, the other way', -92_000, 'trouble', "91 s from the service's. Set this machine's clock (NTP)."],
  ])('compares the clocks: apart by %s', async (_, apart, state, detail) => {
    expect((await checks({ serviceBaseUrl: await listening(200, NOW + apart) }))['clock']).toMatchObject({
      ...{ state, detail },
    });
  });

  it('does not guess at the clock of a service that says no time', async () => {
    expect((await checks({ serviceBaseUrl: await listening(200, null) }))['clock']?.state).toBe('unknown');
  });

  it('calls a service trouble that cannot be reached, and the others answer all the same', async () => {
    const { service, temporal } = await checks({ serviceBaseUrl: 'http://127.0.0.1:1' });

    expect(service).toMatchObject({ state: 'trouble' });
    expect(temporal).toMatchObject({ state: 'ok' });
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

  it('leaves the receiver to the process that runs it', async () => {
    expect((await checks())['receiver']).toEqual({
      ...{ name: 'receiver', state: 'unknown', detail: 'A process of its own receives webhooks.' },
    });
  });
});

describe('the workers of a task queue', () => {
  it('are none where none ever asked', async () => {
    expect(await queuePollers(client, `never-${randomUUID()}`)).toEqual([]);
  });

  it('are told by what they keep, until they say goodbye, and again when they ask again', async () => {
    const taskQueue = `queue-${randomUUID()}`;
    const scope = workerScope('ledger-1', 'default');
    const mine = workerIdentity(scope, 42, 'aa');
    const neighbour = workerIdentity(scope, 42, 'bb');
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
