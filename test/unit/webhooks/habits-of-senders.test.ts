import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { deliver, eventOf, PLAIN, receiverOf, recordingLedger, SECRET, signatureOf } from './receiver-fixture.ts';

const MB = 1024 * 1024;

describe('a packed delivery', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('in %s is taken, signed over the plain or over the packed bytes', async (encoding, pack) => {
    const receiver = await receiverOf();
    const [one, other] = [eventOf(1), eventOf(2)];
    const headers = { 'content-encoding': encoding };

    const plain = await deliver(receiver.url, pack(one), { ...headers, 'x-service-signature': signatureOf(one) });
    const packed = await deliver(receiver.url, pack(other), headers);

    expect([plain.status, packed.status]).toEqual([204, 204]);
    expect(receiver.stored).toEqual(['inv_1', 'inv_2']);
    expect(receiver.ledger.groups.flat().map(({ raw }) => Buffer.from(raw).toString())).toEqual([one, other]);
  });

  it('is taken without the header that says so, and where a proxy has unpacked it and left the header', async () => {
    const receiver = await receiverOf();

    const silent = await deliver(receiver.url, gzipSync(eventOf(1)));
    const unpacked = await deliver(receiver.url, eventOf(2), { 'content-encoding': 'gzip' });

    expect([silent.status, unpacked.status]).toEqual([204, 204]);
    expect(receiver.stored).toEqual(['inv_1', 'inv_2']);
  });

  it('that is signed with another secret is refused', async () => {
    const receiver = await receiverOf();
    const body = gzipSync(eventOf(1));

    const answer = await deliver(receiver.url, body, { 'x-service-signature': signatureOf(body, 'other') });

    expect(answer.status).toBe(401);
    expect(receiver.stored).toEqual([]);
  });

  it('that unpacks to more than a delivery may have is refused before it is unpacked whole', async () => {
    const receiver = await receiverOf();
    const bomb = gzipSync(Buffer.alloc(64 * MB, 0x20));

    const answer = await deliver(receiver.url, bomb, { 'content-encoding': 'gzip' });

    expect(answer.status).toBe(413);
    expect(receiver.tally().refused['body-too-large']).toBe(1);
  });
});

describe('a delivery that begins with two byte-order marks', () => {
  it('is read', async () => {
    const receiver = await receiverOf();

    await deliver(receiver.url, `\ufeff\ufeff${eventOf(1)}`);

    expect(receiver.stored).toEqual(['inv_1']);
  });
});

describe('the address of a receiver', () => {
  const at = (url: string, path: string): string => new URL(path, url).href;

  it.each([
    ['http://127.0.0.1/webhooks/', ['/webhooks', '/webhooks/', '/webhooks//', '/webhooks?x=1']],
    ['https://lote.example/lote/webhooks', ['/lote/webhooks', '/webhooks', '/lote/webhooks/']],
    ['https://lote.example/hooks/invoices/v1', ['/hooks/invoices/v1', '/invoices/v1', '/v1/', '/webhooks']],
    ['https://lote.example', ['/', '/webhooks']],
    ['https://lote.example/health', ['/health']],
  ])(
    'of which the service knows %s takes what comes there, with or without what a proxy cuts off',
    async (registeredUrl, paths) => {
      const receiver = await receiverOf({ registeredUrl, identity: 'mine' });

      for (const [n, path] of paths.entries()) {
        // oxlint-disable-next-line no-await-in-loop -- in the order of the paths
        expect([path, (await deliver(at(receiver.url, path), eventOf(n))).status]).toEqual([path, 204]);
      }

      expect(receiver.stored).toHaveLength(paths.length);
    },
  );

  it('tells a GET whose it is, also behind a prefix, and answers for its health', async () => {
    const receiver = await receiverOf({ registeredUrl: 'https://lote.example/lote/hooks/', identity: 'mine' });

    const asked = await fetch(at(receiver.url, '/lote/hooks/'));

    expect([asked.status, asked.headers.get('lote-receiver')]).toEqual([405, 'mine']);
    expect((await fetch(at(receiver.url, '/health'))).status).toBe(200);
  });
});

describe('a receiver of signatures over the registered address', () => {
  it('signs with where it listens when no other address is registered', async () => {
    const signature = { ...PLAIN.shapes.signature, signed: '{url}{body}' };
    const receiver = await receiverOf({ shapes: { ...PLAIN.shapes, signature } });
    const headers = { 'x-service-signature': signatureOf(`${receiver.url}${eventOf(1)}`) };

    expect((await deliver(receiver.url, eventOf(1), headers)).status).toBe(204);
  });
});

describe('a receiver of several events a delivery', () => {
  const shapes = { ...PLAIN.shapes, event: { ...PLAIN.shapes.event, items: '' } };
  const two = JSON.stringify([JSON.parse(eventOf(1)), JSON.parse(eventOf(2, 'invoice.failed'))]);

  it('answers 2xx when all of them are stored, and announces each', async () => {
    const receiver = await receiverOf({ shapes, secrets: async () => ['an old one', SECRET] });

    expect((await deliver(receiver.url, two)).status).toBe(204);
    expect(receiver.ledger.groups.flat().map(({ event }) => event?.verdict)).toEqual(['issued', 'failed']);
    expect(receiver.stored).toEqual(['inv_1', 'inv_2']);
  });

  it('answers 503 when one of them could not be stored', async () => {
    const receiver = await receiverOf({ shapes, maxWaiting: 1 });

    expect((await deliver(receiver.url, two)).status).toBe(503);
    expect(receiver.tally()).toMatchObject({ taken: 0, notStored: 1 });
  });

  it('takes bodies of up to 1 MiB', async () => {
    const receiver = await receiverOf({ shapes });
    const padding = JSON.stringify('x'.repeat(900));
    const events = Array.from({ length: 1_000 }, (_unused, n) => eventOf(n).replace('{', `{"padding":${padding},`));
    const many = `[${events.join()}]`;

    expect((await deliver(receiver.url, many)).status).toBe(204);
    expect(receiver.ledger.groups.flat()).toHaveLength(1_000);
  });
});

describe('the tally of a receiver', () => {
  it('says how many deliveries were taken, how many without an event, and why others were not', async () => {
    let away = false;
    const ledger = recordingLedger();
    ledger.before = async () => {
      if (away) throw new Error('away');
    };
    const receiver = await receiverOf({ clock: () => 1_000 }, ledger);
    await deliver(receiver.url, eventOf(1));
    await deliver(receiver.url, '<html>');
    await deliver(receiver.url, eventOf(1), { 'x-service-signature': '0'.repeat(64) });
    await fetch(receiver.url, { method: 'POST', body: eventOf(1) });
    await deliver(receiver.url, 'x'.repeat(256 * 1024 + 1));
    away = true;
    await deliver(receiver.url, eventOf(2));

    expect(receiver.tally()).toMatchObject({
      ...{ taken: 2, withoutEvent: 1, notStored: 1 },
      refused: { 'signature-wrong': 1, 'signature-missing': 1, 'body-too-large': 1, 'no-secret': 0 },
    });
  });
});
