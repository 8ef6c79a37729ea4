import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../src/service/profile/profile.ts';
import { createEventReader, isReadFromUnsignedHeaders, type EventShape } from '../../../src/webhooks/event-reader.ts';

const ISSUED = { type: 'invoice.issued', data: { id: 'inv_1' } };
const FAILED = { type: 'invoice.failed', data: { id: 'inv_2' } };

function readerOf(change: Partial<EventShape>) {
  const event = { ...DEFAULT_PROFILE.event, ...change };
  const read = createEventReader({
    event,
    idPrefix: 'inv_',
    signature: { ...DEFAULT_PROFILE.signature, header: 'X-Signature' },
  });
  return async (body: unknown, rawHeaders: readonly string[] = []) => {
    const raw = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    return read({ raw, rawHeaders, receivedAt: 9 });
  };
}

async function eventsOf(change: Partial<EventShape>, body: unknown, rawHeaders: readonly string[] = []) {
  const rows = await readerOf(change)(body, rawHeaders);
  return rows.map(({ event }) => event);
}

describe('the words of the profile', () => {
  it.each([
    ['in other letters', { issued: ['Documento Emitido'] }, 'DOCUMENTO EMITIDO'],
    ['as a number', { issued: ['3'] }, 3],
    ['in another language', { issued: ['facture.émise'] }, 'facture.émise'],
  ])('mean issued %s', async (_name, change, type) => {
    expect(await eventsOf(change, { ...ISSUED, type })).toMatchObject([{ verdict: 'issued', serviceId: 'inv_1' }]);
  });

  it('that mean both say nothing final', async () => {
    expect(await eventsOf({ issued: ['done'], failed: ['Done'] }, { ...ISSUED, type: 'done' })).toMatchObject([
      { type: 'done', verdict: null },
    ]);
  });

  it('replace the published ones', async () => {
    expect(await eventsOf({ issued: ['done'] }, ISSUED)).toMatchObject([{ verdict: null }]);
  });
});

describe('a type in a header', () => {
  const change = { type: 'header:X-Event', eventId: 'header:X-Delivery' };

  it('is read from there', async () => {
    const headers = ['x-event', 'invoice.issued', 'X-Delivery', 'd-1', 'X-Other', 'no'];

    expect(await eventsOf(change, { data: { id: 'inv_1' } }, headers)).toMatchObject([
      { verdict: 'issued', eventId: 'd-1' },
    ]);
  });

  it('that came twice says nothing final', async () => {
    const headers = ['X-Event', 'invoice.issued', 'X-Event', 'invoice.failed'];

    expect(await eventsOf(change, { data: { id: 'inv_1' } }, headers)).toMatchObject([{ verdict: null }]);
  });

  it('tells events apart whose bytes are the same, and not repeats of one', async () => {
    const read = readerOf(change);
    const body = { data: { id: 'inv_1' } };
    const rows = [
      ...(await read(body, ['X-Event', 'invoice.created', 'X-Delivery', '1'])),
      ...(await read(body, ['X-Event', 'invoice.issued', 'X-Delivery', '2'])),
      ...(await read(body, ['X-Event', 'invoice.issued', 'X-Delivery', '3'])),
    ];

    const [created, issued, again] = rows.map(({ sha256 }) => sha256);
    expect(created).not.toBe(issued);
    expect(again).toBe(issued);
  });
});

describe('several events in one delivery', () => {
  const list = { items: '/events' };

  it('become a row each, with its own JSON and a hash that a repeat has again', async () => {
    const read = readerOf(list);
    const rows = await read({ events: [ISSUED, FAILED, ISSUED] });

    expect(rows.map(({ event }) => event?.verdict)).toEqual(['issued', 'failed', 'issued']);
    expect(rows.map(({ raw }) => Buffer.from(raw).toString())).toEqual(
      [ISSUED, FAILED, ISSUED].map((one) => JSON.stringify(one)),
    );
    expect(new Set(rows.map(({ sha256 }) => sha256)).size).toBe(3);
    expect(await read({ events: [ISSUED, FAILED, ISSUED] })).toEqual(rows);
  });

  it('of which one cannot be read keep it as a row without an event', async () => {
    const rows = await readerOf(list)({ events: [ISSUED, 'rubbish', { type: 'invoice.issued' }] });

    expect(rows.map(({ event }) => event?.verdict ?? null)).toEqual(['issued', null, null]);
    expect(Buffer.from(rows[1]?.raw ?? []).toString()).toBe('"rubbish"');
  });

  it.each([
    ['no list', { event: ISSUED }],
    ['an empty one', { events: [] }],
    ['more than 1,000', { events: Array.from({ length: 1_001 }, () => ISSUED) }],
    ['rubbish', '<html>'],
  ])('that are %s are kept whole as one row without an event', async (_name, body) => {
    const rows = await readerOf(list)(body);
    const raw = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

    expect(rows).toEqual([{ sha256: createHash('sha256').update(raw).digest('hex'), raw, receivedAt: 9, event: null }]);
  });

  it('may be the whole body', async () => {
    expect(await eventsOf({ items: '' }, [ISSUED, FAILED])).toMatchObject([
      { verdict: 'issued' },
      { verdict: 'failed' },
    ]);
  });
});

describe('an event inside the delivery', () => {
  const inside = JSON.stringify(ISSUED);

  it.each([
    ['base64', Buffer.from(inside).toString('base64')],
    ['base64', Buffer.from(inside).toString('base64url')],
    ['text', inside],
  ] as const)('is read from %s: %s', async (encoding, data) => {
    expect(await eventsOf({ payload: { at: '/data', encoding } }, { data, type: 'outer' })).toMatchObject([
      { verdict: 'issued', type: 'invoice.issued' },
    ]);
  });

  it.each([
    ['nothing', undefined],
    ['an object', ISSUED],
    ['no base64', '{"type":1}'],
    ['base64 of no JSON', Buffer.from('rubbish').toString('base64')],
    ['base64 of no UTF-8', '////'],
  ])('cannot be read from %s', async (_name, data) => {
    expect(await eventsOf({ payload: { at: '/data', encoding: 'base64' } }, { ...ISSUED, data })).toEqual([null]);
  });

  it('may hold several', async () => {
    const data = Buffer.from(JSON.stringify({ list: [ISSUED, FAILED] })).toString('base64');

    expect(await eventsOf({ payload: { at: '/data', encoding: 'base64' }, items: '/list' }, { data })).toMatchObject([
      { verdict: 'issued' },
      { verdict: 'failed' },
    ]);
  });
});

describe('an expression', () => {
  it('reads what no pointer can, headers too but none that proves the sender', async () => {
    const change = {
      type: 'jsonata:$headers."x-event" & "." & state',
      eventId: 'jsonata:$join($sort($keys($headers)), "/")',
      invoiceId: 'jsonata:links[rel="invoice"].href',
    };
    const body = {
      state: 'issued',
      links: [
        { rel: 'self', href: '/e/1' },
        { rel: 'invoice', href: '/v1/invoices/inv_9' },
      ],
    };
    const headers = ['X-Event', 'invoice', 'X-Signature', 's', 'Authorization', 'a', 'Cookie', 'c', 'Accept', '*/*'];

    expect(await eventsOf(change, body, headers)).toMatchObject([
      { verdict: 'issued', serviceId: 'inv_9', eventId: 'accept/x-event' },
    ]);
  });

  it('finds the list, and reads each of its events', async () => {
    const change = { items: 'jsonata:groups.events', invoiceId: 'jsonata:data.id' };

    expect(await eventsOf(change, { groups: [{ events: [ISSUED] }, { events: [FAILED] }] })).toMatchObject([
      { verdict: 'issued', serviceId: 'inv_1' },
      { verdict: 'failed', serviceId: 'inv_2' },
    ]);
  });

  it('that never ends leaves events unread, and keeps all of them within seconds', async () => {
    const endless = 'jsonata:($f := function($n) { $f($n + 1) }; $f(0))';
    const rows = await readerOf({ items: '', type: endless })(Array.from({ length: 60 }, () => ISSUED));

    expect(rows).toHaveLength(60);
    expect(
      rows.every(({ event, raw }) => event === null && Buffer.from(raw).equals(Buffer.from(JSON.stringify(ISSUED)))),
    ).toBe(true);
  });
});

/** What an event says that says nothing. */
const BARE = { eventId: null, serviceId: null, verdict: null, reason: null };
const FAILURE = { ...BARE, type: 'invoice.failed', serviceId: 'inv_2', verdict: 'failed' };
const ISSUED_SAYS = { type: 'invoice.issued', eventId: 'evt_1', serviceId: 'inv_1', verdict: 'issued' };
const failedWith = (error: unknown) => ({ ...FAILED, data: { id: 'inv_2', error } });

describe('an event', () => {
  it.each<[string, unknown, object]>([
    ['issued', { id: 'evt_1', ...ISSUED }, { ...FAILURE, ...ISSUED_SAYS }],
    ['failed', FAILED, FAILURE],
    [
      'failed with its reason in one line',
      failedWith({ code: 'TAX_ENGINE.down', message: ' no\r\nanswer ' }),
      { ...FAILURE, reason: { code: 'tax-engine-down', message: 'no answer' } },
    ],
    ...[
      ['wrongSeries', 'wrong-series'],
      [42, 'code-42'],
      ['501964843', 'failed'],
    ].map(([code, read]): [string, unknown, object] => [
      `failed with the code ${code}, read as that of an answer`,
      failedWith({ code, message: 'no' }),
      { ...FAILURE, reason: { code: read, message: 'no' } },
    ]),
    [
      'failed for a reason that would hurt the database or a terminal',
      failedWith({ code: 'a b', message: 'x\u0000\u001b[2J\ud800y' }),
      { ...FAILURE, reason: { code: 'failed', message: 'x [2J y' } },
    ],
    ...['invoice.created', 'merchant.updated', 'constructor', '__proto__', 'toString'].map(
      (type): [string, unknown, object] => [
        `of the unknown type ${type}, which says nothing final`,
        { ...ISSUED, type },
        { ...BARE, type, serviceId: 'inv_1' },
      ],
    ),
    ['of an unknown type, without an invoice', { type: 'ping' }, { ...BARE, type: 'ping' }],
    ['with a number for its id', { id: 42, type: 'ping' }, { ...BARE, type: 'ping', eventId: '42' }],
    ['with what is no word for its id', { id: 'evt\0', type: 'ping' }, { ...BARE, type: 'ping' }],
  ])('%s is read', async (_name, value, event) => {
    expect(await eventsOf({}, value)).toEqual([event]);
  });

  it('is read at the places that the profile names', async () => {
    const change = { type: '/event/name', invoiceId: '/objects/0/invoice' };
    const body = { event: { name: 'invoice.issued' }, objects: [{ invoice: 'inv_7' }] };

    expect(await eventsOf(change, body)).toMatchObject([{ verdict: 'issued', serviceId: 'inv_7' }]);
  });

  it.each([
    ['nothing', ''],
    ['text', 'issued'],
    ['HTML', '<html>'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no type', {}],
    ['a type that is no text', { ...ISSUED, type: { a: 1 } }],
    ['a type with a NUL', { type: 'a\0b' }],
    ['an endless type', { type: 'a'.repeat(201) }],
    ['issued without an invoice', { type: 'invoice.issued' }],
    ['issued of something else', { type: 'invoice.issued', data: { id: 'mrc_1' } }],
    ['issued of a path', { type: 'invoice.issued', data: { id: 'inv_/../x' } }],
    ['issued of an inherited id', '{"type":"invoice.issued","data":{"__proto__":{"id":"inv_1"}}}'],
    ['half a document', '{"type":"invoice.issued","data":{"id":"inv_1"}'],
    ['bottomless nesting', '['.repeat(100_000)],
    ['what is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ])('cannot be read from %s', async (_name, value) => {
    expect(await eventsOf({}, value)).toEqual([null]);
  });

  it('keeps its reason short', async () => {
    const [event] = await eventsOf({}, failedWith({ code: 'c'.repeat(190), message: '😀'.repeat(5_000) }));

    expect(event?.reason?.code).toHaveLength(64);
    expect(Array.from(event?.reason?.message ?? '')).toHaveLength(200);
    expect(event?.reason?.message, 'cut as in an answer, where a reader sees it').toMatch(/😀…$/u);
  });
});

function isRead(event: Partial<EventShape>, signature: Partial<typeof DEFAULT_PROFILE.signature> = {}): boolean {
  return isReadFromUnsignedHeaders({
    event: { ...DEFAULT_PROFILE.event, ...event },
    signature: { ...DEFAULT_PROFILE.signature, ...signature },
  });
}

describe('events that are read from unsigned headers', () => {
  it.each([
    ['the type', { type: 'header:X-Topic' }],
    ['the type at one of two places', { type: ['/type', 'header:X-Topic'] }],
    ['the id of the invoice', { invoiceId: 'header:X-Invoice' }],
    ['the event inside', { payload: { at: 'header:X-Event', encoding: 'base64' as const } }],
    ['the list of events', { items: 'jsonata:$headers.events' }],
    ['an expression that may read any header', { type: 'jsonata:$headers."x-topic"' }],
  ])('are those of which %s stands there', (_what, event) => {
    expect(isRead(event)).toBe(true);
  });

  it('are not those that the body has, whatever names and explains them', () => {
    expect(isRead({ eventId: 'header:X-Delivery', reasonCode: 'header:X-Reason' })).toBe(false);
    expect(isRead({})).toBe(false);
  });

  it('are not those of headers that are signed', () => {
    const event = { type: 'header:X-Topic' };

    expect(isRead(event, { signed: '{header:x-topic}.{body}' })).toBe(false);
    expect(isRead(event, { signed: '{timestamp}.{body}', timestamp: 'header:X-Topic' })).toBe(false);
    expect(isRead(event, { signed: '{header:x-other}.{body}', timestamp: 'header:X-Topic' })).toBe(true);
  });
});
