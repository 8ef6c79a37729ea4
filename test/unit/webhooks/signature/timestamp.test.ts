import { describe, expect, it } from 'vitest';
import { timeOf } from '../../../../src/webhooks/signature-check.ts';

const AT = 1_700_000_000_000;

describe('timeOf', () => {
  it.each([
    ['seconds', '1700000000', AT],
    ['seconds with a fraction', '1700000000.5', AT + 500],
    ['milliseconds', '1700000000123', AT + 123],
    ['ISO 8601 in UTC', '2023-11-14T22:13:20Z', AT],
    ['ISO 8601 with a fraction', '2023-11-14T22:13:20.123Z', AT + 123],
    ['ISO 8601 with an offset', '2023-11-15T00:13:20+02:00', AT],
    ['ISO 8601 with an offset without colon', '2023-11-14T19:13:20-0300', AT],
    ['the form of HTTP', 'Tue, 14 Nov 2023 22:13:20 GMT', AT],
  ])('reads %s', (_name, text, time) => {
    expect(timeOf(text)).toBe(time);
  });

  it.each([
    '',
    'now',
    '-1',
    '1e9',
    '0x10',
    '17000000000000',
    '2023-11-14',
    '2023-11-14T22:13:20',
    '2023-13-40T99:99:99Z',
  ])('reads no time in %j', (text) => {
    expect(timeOf(text)).toBeNull();
  });
});
