import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../src/service/profile/default-profile.ts';
import { createEventReader, type EventShape } from '../../../src/webhooks/event-reader.ts';

const SHAPE: EventShape = DEFAULT_PROFILE.event;

function read(value: unknown, shape = SHAPE, idPrefix = 'inv_') {
  return readBytes(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), shape, idPrefix);
}

function readBytes(raw: Uint8Array, shape = SHAPE, idPrefix = 'inv_') {
  const reader = createEventReader({ event: shape, idPrefix, signature: { header: 'X-Signature' } });
  const rows = reader({ raw, rawHeaders: [], receivedAt: 0 });
  if (rows instanceof Promise) throw new Error('no expression stands in these profiles');
  expect(rows).toHaveLength(1);
  return rows[0]?.event ?? null;
}

describe('readEvent', () => {
  it('reads issued', () => {
    expect(read({ id: 'evt_1', type: 'invoice.issued', data: { id: 'inv_1' } })).toEqual({
      type: 'invoice.issued',
      eventId: 'evt_1',
      serviceId: 'inv_1',
      verdict: 'issued',
      reason: null,
    });
  });

  it('reads failed with its reason', () => {
    const event = read({
      type: 'invoice.failed',
      data: { id: 'inv_1', error: { code: 'TAX_ENGINE.down', message: ' no\r\nanswer ' } },
    });

    expect(event).toMatchObject({
      verdict: 'failed',
      eventId: null,
      reason: { code: 'tax-engine-down', message: 'no answer' },
    });
  });

  it.each([
    ['wrongSeries', 'wrong-series'],
    [42, 'code-42'],
    ['501964843', 'failed'],
  ])('reads the code %j of a reason as an answer is read', (code, expected) => {
    const error = { code, message: 'no' };

    expect(read({ type: 'invoice.failed', data: { id: 'inv_1', error } })?.reason?.code).toBe(expected);
  });

  it('reads failed without a reason', () => {
    expect(read({ type: 'invoice.failed', data: { id: 'inv_1' } })).toMatchObject({ verdict: 'failed', reason: null });
  });

  it.each(['invoice.created', 'merchant.updated', 'constructor', '__proto__', 'toString'])(
    'keeps the unknown type %s and lets it say nothing final',
    (type) => {
      expect(read({ type, data: { id: 'inv_1' } })).toMatchObject({
        type,
        serviceId: 'inv_1',
        verdict: null,
        reason: null,
      });
    },
  );

  it('keeps an unknown type without an invoice', () => {
    expect(read({ type: 'ping' })).toEqual({
      type: 'ping',
      eventId: null,
      serviceId: null,
      verdict: null,
      reason: null,
    });
  });

  it.each([
    ['a number', 42, '42'],
    ['what is no word', 'evt\0', null],
  ])('reads %s as an event id', (_name, id, eventId) => {
    expect(read({ id, type: 'ping' })).toMatchObject({ eventId });
  });

  it('reads places that the profile names', () => {
    const shape: EventShape = { ...SHAPE, type: '/event/name', invoiceId: '/objects/0/invoice' };

    expect(read({ event: { name: 'invoice.issued' }, objects: [{ invoice: 'inv_7' }] }, shape)).toMatchObject({
      verdict: 'issued',
      serviceId: 'inv_7',
    });
  });

  it.each([
    ['nothing', ''],
    ['text', 'issued'],
    ['HTML', '<html>'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no type', {}],
    ['a type that is no text', { type: { a: 1 }, data: { id: 'inv_1' } }],
    ['a type with a NUL', { type: 'a\0b' }],
    ['an endless type', { type: 'a'.repeat(201) }],
    ['issued without an invoice', { type: 'invoice.issued' }],
    ['issued of something else', { type: 'invoice.issued', data: { id: 'mrc_1' } }],
    ['issued of a path', { type: 'invoice.issued', data: { id: 'inv_/../x' } }],
    ['issued of an inherited id', '{"type":"invoice.issued","data":{"__proto__":{"id":"inv_1"}}}'],
    ['half a document', '{"type":"invoice.issued","data":{"id":"inv_1"}'],
    ['bottomless nesting', '['.repeat(100_000)],
  ])('cannot read %s', (_name, value) => {
    expect(read(value)).toBeNull();
  });

  it('cannot read what is not UTF-8', () => {
    expect(readBytes(Buffer.from([0x7b, 0xff, 0x7d]))).toBeNull();
  });

  it('keeps what would hurt the database or a terminal out of the reason', () => {
    const event = read(
      '{"type":"invoice.failed","data":{"id":"inv_1","error":{"code":"a b","message":"x\\u0000\\u001b[2J\\ud800y"}}}',
    );

    expect(event?.reason).toEqual({ code: 'failed', message: 'x [2J y' });
  });

  it('keeps a reason short', () => {
    const event = read({
      type: 'invoice.failed',
      data: { id: 'inv_1', error: { code: 'c'.repeat(190), message: '😀'.repeat(5_000) } },
    });

    expect(event?.reason?.code).toHaveLength(64);
    expect(Array.from(event?.reason?.message ?? '')).toHaveLength(200);
    expect(event?.reason?.message, 'cut as in an answer, where a reader sees it').toMatch(/😀…$/u);
  });
});
