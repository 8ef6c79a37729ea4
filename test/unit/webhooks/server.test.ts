import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../src/domain/errors.ts';
import { createSecretCache } from '../../../src/webhooks/handle-delivery.ts';
import { deliver, eventOf, receiverOf, SECRET, signatureOf, type RecordingLedger } from './receiver-fixture.ts';

/** Holds the next write of a receiver's ledger until `release`. */
function heldWrite(ledger: RecordingLedger) {
  let release: () => void = () => undefined;
  const reached = new Promise<void>((reachedLedger) => {
    ledger.before = async () =>
      await new Promise((resolve) => {
        release = resolve;
        reachedLedger();
      });
  });
  return { reached, release: () => release() };
}

describe('a delivery', () => {
  it('is answered 2xx after it is committed, never before', async () => {
    const receiver = await receiverOf();
    const { reached, release } = heldWrite(receiver.ledger);
    let answered = false;

    const answer = deliver(receiver.url, eventOf(1)).then((response) => {
      answered = true;
      return response;
    });
    await reached;
    const before = answered;
    release();

    expect((await answer).status).toBe(204);
    expect(before).toBe(false);
  });

  it('reaches the ledger byte by byte, odd white space and all', async () => {
    const receiver = await receiverOf();
    const body = Buffer.from(`\r\n ${eventOf(1)}\t\u00e9\n`, 'utf8');

    await deliver(receiver.url, body);

    expect(receiver.ledger.groups.flat().map(({ raw }) => Buffer.from(raw))).toEqual([body]);
  });

  it.each([
    ['an event type that nobody knows', eventOf(1, 'invoice.voided'), { verdict: null }],
    ['bytes that cannot be read', '<html>', null],
    ['nothing at all', '', null],
  ])('is stored and answered 2xx when it is correctly signed and holds %s', async (_name, body, event) => {
    const receiver = await receiverOf();

    expect((await deliver(receiver.url, body)).status).toBe(204);
    expect(receiver.ledger.groups.flat()).toMatchObject([{ event }]);
  });

  it('whose reason quotes the API key is stored without it', async () => {
    const receiver = await receiverOf({ apiKey: 'sk_test_Zm9v/YmFy' });
    const error = { code: 'key-blocked', message: `${'.'.repeat(190)}sk_test_Zm9v/YmFy is blocked` };
    const body = JSON.stringify({ type: 'invoice.failed', data: { id: 'inv_1', error } });

    await deliver(receiver.url, body.replaceAll('/', String.raw`\/`));

    expect(receiver.ledger.groups.flat()).toMatchObject([
      { event: { reason: { code: 'key-blocked', message: `${'.'.repeat(190)}[key] is …` } } },
    ]);
  });

  it('that comes again is answered 2xx again, and announced after each commit', async () => {
    const receiver = await receiverOf();

    const answers = [await deliver(receiver.url, eventOf(1)), await deliver(receiver.url, eventOf(1))];

    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    expect(receiver.stored).toEqual(['inv_1', 'inv_1']);
  });
});

describe('many deliveries', () => {
  it('are written in few groups, each delivery once', async () => {
    const receiver = await receiverOf();
    const bodies = Array.from({ length: 300 }, (_unused, n) => eventOf(n));

    const answers = await Promise.all(bodies.map(async (body) => await deliver(receiver.url, body)));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    expect(receiver.ledger.groups.flat()).toHaveLength(300);
    expect(receiver.ledger.groups.length).toBeLessThan(150);
  });

  it('wait in a bounded queue; beyond it the sender is asked to come again', async () => {
    const receiver = await receiverOf({ maxWaiting: 5 });
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    receiver.ledger.before = async () => await gate;

    const answers = Array.from({ length: 20 }, async (_unused, n) => await deliver(receiver.url, eventOf(n)));
    const turnedAway = await Promise.race(answers);
    release?.();
    const all = await Promise.all(answers);

    expect(turnedAway.status).toBe(503);
    expect(turnedAway.headers.get('retry-after')).toMatch(/^\d+$/);
    const stored = all.filter(({ status }) => status === 204);
    expect(stored).toHaveLength(receiver.ledger.groups.flat().length);
    expect(all.filter(({ status }) => status === 503)).toHaveLength(20 - stored.length);
  });
});

describe('trouble', () => {
  it('with the ledger is a 503 with Retry-After, and nothing is acknowledged', async () => {
    const receiver = await receiverOf();
    receiver.ledger.before = async () => {
      throw new LoteError('ledger-unavailable', 'database at 10.0.0.1 with password hunter2');
    };

    const response = await deliver(receiver.url, eventOf(1));

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(receiver.stored, 'announced to nobody').toEqual([]);
    expect(receiver.logged.join()).toContain('ledger-unavailable');
    expect(receiver.logged.join()).not.toContain('hunter2');

    receiver.ledger.before = async () => undefined;
    expect((await deliver(receiver.url, eventOf(1))).status, 'it passes: the repeat is stored').toBe(204);
  });

  it('with reading the secrets is a 503, not a refusal', async () => {
    const receiver = await receiverOf({
      secrets: async () => {
        throw new Error('down');
      },
    });

    expect((await deliver(receiver.url, eventOf(1))).status).toBe(503);
  });

  it('with a taken port names the port and the variable', async () => {
    const first = await receiverOf();

    await expect(receiverOf({ port: first.port })).rejects.toMatchObject({
      code: 'port-taken',
      message: expect.stringMatching(new RegExp(`${first.port}.*RECEIVER_PORT`)) as string,
    });
  });
});

describe('secrets', () => {
  it('that come into force later count without a restart', async () => {
    let secrets: readonly string[] = [];
    let time = 0;
    const receiver = await receiverOf({ secrets: async () => secrets, clock: () => time });
    const before = await deliver(receiver.url, eventOf(1));
    secrets = [SECRET];
    time += 1_000;

    const after = await deliver(receiver.url, eventOf(1));

    expect([before.status, after.status]).toEqual([401, 204]);
  });

  it('that are replaced are both accepted while both are known', async () => {
    const receiver = await receiverOf({ secrets: async () => ['whsec_new', SECRET] });

    const answers = [
      await deliver(receiver.url, eventOf(1)),
      await deliver(receiver.url, eventOf(2), { 'x-service-signature': signatureOf(eventOf(2), 'whsec_new') }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
  });

  it('that are taken back are forgotten', async () => {
    let secrets = [SECRET];
    let time = 0;
    const receiver = await receiverOf({ secrets: async () => secrets, clock: () => time });
    await deliver(receiver.url, eventOf(1));
    secrets = ['whsec_new'];
    time += 60_000;

    expect((await deliver(receiver.url, eventOf(2))).status).toBe(401);
  });
});

describe('closing', () => {
  it('finishes what has begun and then listens no more', async () => {
    const receiver = await receiverOf();
    const { reached, release } = heldWrite(receiver.ledger);
    const answer = deliver(receiver.url, eventOf(1), { connection: 'close' });
    await reached;

    const closing = receiver.close();
    release();

    expect((await answer).status).toBe(204);
    await closing;
    await expect(deliver(receiver.url, eventOf(2))).rejects.toThrow();
  });
});

it('secrets are read again when they are older than allowed or the clock was set back, once for many who ask', async () => {
  const clock = { now: 0 };
  let reads = 0;
  const secretsOf = createSecretCache(
    async () => [`secret-${(reads += 1)}`],
    () => clock.now,
  );
  const seen: string[] = [];

  for (const now of [3_600_000, 3_600_249, 3_600_250, 0, 0]) {
    clock.now = now;
    const asked = await Promise.all(Array.from({ length: 50 }, () => secretsOf()));
    seen.push(...new Set(asked.flat()));
  }

  expect(seen).toEqual(['secret-1', 'secret-1', 'secret-2', 'secret-3', 'secret-3']);
});
