import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../src/service/profile/default-profile.ts';
import { deliver, eventOf, receiverOf, PLAIN, recordingLedger, SECRET } from '../../unit/webhooks/receiver-fixture.ts';

type Signature = typeof DEFAULT_PROFILE.signature;

function receiverWith(signature: Partial<Signature>, event: Partial<typeof DEFAULT_PROFILE.event> = {}) {
  const shapes = {
    ...PLAIN.shapes,
    signature: { ...DEFAULT_PROFILE.signature, ...signature },
    event: { ...DEFAULT_PROFILE.event, ...event },
  };
  return receiverOf({ shapes, secrets: () => Promise.resolve(['an old one', SECRET]) });
}

async function post(url: string, body = eventOf(1), headers: Record<string, string> = {}): Promise<number> {
  return (await fetch(url, { method: 'POST', body, headers })).status;
}

describe('a receiver of signatures over the registered address', () => {
  it('signs with where it listens when no other address is registered', async () => {
    const receiver = await receiverWith({ signed: '{url}{body}' });
    const signature = createHmac('sha256', SECRET)
      .update(`${receiver.url}${eventOf(1)}`)
      .digest('hex');

    expect(await post(receiver.url, eventOf(1), { 'x-service-signature': signature })).toBe(204);
  });
});

describe('a receiver of several events a delivery', () => {
  const two = JSON.stringify([JSON.parse(eventOf(1)), JSON.parse(eventOf(2, 'invoice.failed'))]);

  it('answers 2xx when all of them are stored, and announces each', async () => {
    const receiver = await receiverWith({}, { items: '' });

    expect((await deliver(receiver.url, two)).status).toBe(204);
    expect(receiver.ledger.groups.flat().map(({ event }) => event?.verdict)).toEqual(['issued', 'failed']);
    expect(receiver.stored).toEqual(['inv_1', 'inv_2']);
  });

  it('answers 503 when one of them could not be stored', async () => {
    const shapes = { ...PLAIN.shapes, event: { ...PLAIN.shapes.event, items: '' } };
    const receiver = await receiverOf({ shapes, maxWaiting: 1 });

    expect((await deliver(receiver.url, two)).status).toBe(503);
    expect(receiver.tally()).toMatchObject({ taken: 0, notStored: 1 });
  });

  it('takes bodies of up to 1 MiB', async () => {
    const receiver = await receiverWith({}, { items: '' });
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
    await post(receiver.url);
    await deliver(receiver.url, 'x'.repeat(256 * 1024 + 1));
    away = true;
    await deliver(receiver.url, eventOf(2));

    expect(receiver.tally()).toMatchObject({
      ...{ taken: 2, withoutEvent: 1, notStored: 1 },
      refused: { 'signature-wrong': 1, 'signature-missing': 1, 'body-too-large': 1, 'no-secret': 0 },
    });
  });
});
