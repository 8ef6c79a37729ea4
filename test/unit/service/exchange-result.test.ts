import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { documentOf, outcomeOf, readBody, type ExchangeResult } from '../../../src/service/exchange-result.ts';
import { pause } from '../../../src/service/limits/request-limiter.ts';

const KEY = 'sk_live_0123456789';

function read(text: string, secret = KEY) {
  return readBody(Buffer.from(text), secret);
}

describe('readBody', () => {
  it('hides the key wherever the answer quotes it, and changes nothing else', () => {
    const answer = { error: { message: `key ${KEY} and ${KEY}`, code: 'x' }, list: [KEY, 1.5, null, true] };

    expect(read(JSON.stringify(answer))).toEqual({
      kind: 'json',
      value: { error: { message: 'key [key] and [key]', code: 'x' }, list: ['[key]', 1.5, null, true] },
    });
  });

  it.each([
    ['a slash', 'sk_live_ab/cd0123', String.raw`sk_live_ab\/cd0123`],
    ['a plus', 'sk_live_ab+cd0123', String.raw`sk_live_ab\u002Bcd0123`],
    ['a quote', 'sk_live_ab"cd0123', String.raw`sk_live_ab\"cd0123`],
  ])('hides a key in which JSON writes %s as an escape', (_, key, written) => {
    expect(read(`{"message":"key ${written}"}`, key)).toEqual({ kind: 'json', value: { message: 'key [key]' } });
  });

  it('leaves an answer without the key as it is', () => {
    expect(read('{"id":"inv_1","n":1}')).toEqual({ kind: 'json', value: { id: 'inv_1', n: 1 } });
  });

  it.each([
    ['inv', { id: 'inv_1' }],
    ['inv_123', { id: 'inv_123' }],
  ])('does not look for the key %s, so short that it may stand in every word', (key, value) => {
    expect(read(JSON.stringify(value), key)).toEqual({ kind: 'json', value });
  });

  it('hides a key of eight characters', () => {
    expect(read('{"message":"key 12345678"}', '12345678')).toEqual({ kind: 'json', value: { message: 'key [key]' } });
  });

  it.each(['null', '0', '""', '[]'])('reads %s: it is JSON, whatever it says', (text) => {
    expect(read(text)).toEqual({ kind: 'json', value: JSON.parse(text) as unknown });
  });

  it('knows no answer from one that is no JSON', () => {
    expect(read('')).toEqual({ kind: 'unreadable', why: 'empty' });
    expect(read('<html></html>')).toMatchObject({ kind: 'unreadable', why: 'not-json' });
    expect(read('{"id":"inv_1"')).toMatchObject({ kind: 'unreadable', why: 'not-json' });
  });

  it('keeps the beginning of a text that is no JSON, with the key hidden', () => {
    const answer = read(`The key ${KEY} may not do that. ${'x'.repeat(5_000)}`);

    expect(answer).toMatchObject({ why: 'not-json', text: expect.stringContaining('The key [key] may not') as string });
    expect(answer.kind === 'unreadable' ? answer.text?.length : 0).toBe(2_000);
  });

  it('takes bytes that are no UTF-8 for unreadable: an id read from them could be another', () => {
    const bytes = Buffer.concat([Buffer.from('{"id":"inv_'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);

    expect(readBody(bytes, KEY)).toEqual({ kind: 'unreadable', why: 'not-json' });
  });
});

describe('the outcome of a request, for those who count', () => {
  const answer = (status: number): ExchangeResult => ({
    ...{ kind: 'answer', status, retryAfterMs: null },
    body: { kind: 'unreadable', why: 'empty' },
  });

  it.each<[string, ExchangeResult, string]>([
    ['nothing was sent', { kind: 'not-sent', code: 'connection-refused', retryAfterMs: null }, 'not-sent'],
    ['it was not permitted', { kind: 'not-permitted' }, 'not-sent'],
    ['no answer came', { kind: 'broken', code: 'answer-timeout' }, 'no-answer'],
    ['200', answer(200), '2xx'],
    ['299', answer(299), '2xx'],
    ['300', answer(300), '3xx'],
    ['399', answer(399), '3xx'],
    ['400', answer(400), '4xx'],
    ['428', answer(428), '4xx'],
    ['429, which is counted apart', answer(429), '429'],
    ['499', answer(499), '4xx'],
    ['500', answer(500), '5xx'],
  ])('where %s', (_name, end, outcome) => {
    expect(outcomeOf(end)).toBe(outcome);
  });
});

describe('what the places of a profile are read from', () => {
  const prose = (text?: string): ExchangeResult => ({
    ...{ kind: 'answer', status: 422, retryAfterMs: null, headers: { location: '/x' } },
    body: { kind: 'unreadable', why: 'not-json', ...(text !== undefined && { text }) },
  });

  it.each<[string, ExchangeResult, object]>([
    ['a text of the service', prose('The NIF is wrong'), { text: 'The NIF is wrong' }],
    ['the page of a gateway, which is no word of the service', prose('\n <html>'), {}],
    ['bytes that are no text', prose(), {}],
  ])('holds status and headers, and %s', (_name, end, more) => {
    expect(documentOf(end)).toStrictEqual({ body: undefined, status: 422, headers: { location: '/x' }, ...more });
  });

  it('holds the values of expressions, where there are some', () => {
    const end: ExchangeResult = {
      ...{ kind: 'answer', status: 200, retryAfterMs: null },
      body: { kind: 'json', value: { id: 1 } },
    };
    const computed = new Map([['a & b', 'c']]);

    expect(documentOf(end)).toStrictEqual({ body: { id: 1 }, status: 200 });
    expect(documentOf({ ...end, computed })).toStrictEqual({ body: { id: 1 }, status: 200, computed });
  });

  it.each(['encoded', 'oversize', 'cut-short', 'not-evaluated'] as const)(
    'holds the status alone of an answer that is %s: what it would say is not known',
    (why) => {
      const end: ExchangeResult = {
        ...{ kind: 'answer', status: 201, retryAfterMs: null, headers: { location: '/v1/invoices/inv_1' } },
        body: { kind: 'unreadable', why },
      };

      expect(documentOf(end)).toStrictEqual({ body: undefined, status: 201 });
    },
  );

  it('holds nothing when no answer came', () => {
    expect(documentOf({ kind: 'broken', code: 'connection-reset' })).toStrictEqual({ body: undefined });
  });
});

describe('pause', () => {
  it('says true when its time is over', async () => {
    expect(await pause(1, undefined)).toBe(true);
    expect(await pause(0, undefined)).toBe(true);
    expect(await pause(-5, new AbortController().signal)).toBe(true);
  });

  it('says false at once when it was given up, before or meanwhile', async () => {
    const controller = new AbortController();
    const waiting = pause(3_600_000, controller.signal);
    controller.abort();

    expect(await waiting).toBe(false);
    expect(await pause(3_600_000, controller.signal)).toBe(false);
    expect(await pause(0, controller.signal)).toBe(false);
  });

  it('leaves no listener behind on a signal that lives for a whole batch', async () => {
    const { signal } = new AbortController();

    await pause(1, signal);

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
