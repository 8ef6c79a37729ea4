import { describe, expect, it } from 'vitest';
import { nearestWord } from '../../../../src/service-profile/check/nearest-word.ts';

describe('the nearest word', () => {
  it.each([
    ['isued', ['issued', 'failed'], 'issued'],
    ['ISSUED', ['issued', 'failed'], 'issued'],
    ['next_cursor', ['nextCursor', 'nextLink'], 'nextCursor'],
    ['sha-256', ['sha1', 'sha256', 'sha512'], 'sha256'],
    ['typ', ['type', 'items'], 'type'],
    ['currency', ['type', 'items'], null],
    ['xy', ['id', 'at'], null],
    ['x'.repeat(1_000), ['x'.repeat(1_000)], null],
  ])('to %j of %j is %j', (word, valid, nearest) => {
    expect(nearestWord(word, valid)).toBe(nearest);
  });
});
