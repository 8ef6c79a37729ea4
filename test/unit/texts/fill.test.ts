import { describe, expect, it } from 'vitest';
import { fill, pluralForm } from '../../../src/texts/fill.ts';

describe('fill', () => {
  it('puts words into their places and leaves what it does not know', () => {
    expect(fill('{n} of {of} {x}', { n: '1', of: '2' })).toBe('1 of 2 {x}');
    expect(fill('{n}', { n: '{of}', of: 'no' })).toBe('{of}');
  });

  it.each([
    [0, 'en', 'other'],
    [1, 'en', 'one'],
    [0, 'pt', 'other'],
    [1, 'pt', 'one'],
    [2, 'pt', 'other'],
    [1_000_000, 'es', 'other'],
  ])('takes the form of %d in %s: %s', (n, language, form) => {
    expect(pluralForm('[one|other]', n, language)).toBe(form);
  });
});
