import { describe, expect, it } from 'vitest';
import { readBody } from '../../../src/service/exchange-result.ts';
import { pause } from '../../../src/service/limits/pause.ts';

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

  it('leaves an answer without the key as it is', () => {
    expect(read('{"id":"inv_1","n":1}')).toEqual({ kind: 'json', value: { id: 'inv_1', n: 1 } });
  });

  it('does not look for a key so short that it stands in every word', () => {
    expect(read('{"id":"inv_1"}', 'inv')).toEqual({ kind: 'json', value: { id: 'inv_1' } });
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
    let listeners = 0;
    const counting = new Proxy(signal, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (name === 'addEventListener') listeners += 1;
        if (name === 'removeEventListener') listeners -= 1;
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });

    await pause(1, counting);

    expect(listeners).toBe(0);
  });
});
