import { describe, expect, it } from 'vitest';
import { shorten } from '../../../../src/ingest/invoice/shorten.ts';

describe('shorten', () => {
  it('leaves a short text alone and cuts a long one', () => {
    expect(shorten('abc', 3)).toBe('abc');
    expect(shorten('abcd', 3)).toBe('abc');
  });

  it('drops a character that would be cut in half, and keeps a whole one', () => {
    expect(shorten('a😀b', 2)).toBe('a');
    expect(shorten('a😀b', 3)).toBe('a😀');
  });
});
