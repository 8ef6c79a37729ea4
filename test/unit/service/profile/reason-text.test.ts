import { describe, expect, it } from 'vitest';
import { reasonText } from '../../../../src/service/profile/reason-text.ts';

describe('reasonText', () => {
  it('is one line without control or invisible characters', () => {
    expect(reasonText(' a\r\nb\u0000c\u001b[31md\u202ee\u2028f\ud800g ')).toBe('a b c [31md e f g');
  });

  it('is at most 200 characters and never half a character', () => {
    const text = reasonText('😀'.repeat(900));

    expect(Array.from(text)).toHaveLength(200);
    expect(text.endsWith('😀…')).toBe(true);
  });

  it.each([
    [200, 200, 'x'],
    [201, 200, '…'],
  ])('of %d characters has %d and ends with %s', (length, kept, end) => {
    const text = reasonText('x'.repeat(length));

    expect(text).toHaveLength(kept);
    expect(text.endsWith(end)).toBe(true);
  });

  it('is no more than the first 2,000 characters, so that a megabyte costs nothing', () => {
    expect(reasonText(' '.repeat(2_000) + 'x')).toBe('');
    expect(reasonText(' '.repeat(1_999) + 'x')).toBe('x');
  });

  it('leaves a short text alone', () => {
    expect(reasonText('O NIF é inválido')).toBe('O NIF é inválido');
  });
});
