import { describe, expect, it } from 'vitest';
import { createStoredErrors } from '../../../activities/stored-errors.ts';
import type { CreateAnswer } from '../../../src/domain/ports/invoicing-service.ts';

function lost(message: string): CreateAnswer {
  return { kind: 'lost', reason: { code: 'internal-error', message }, retryAfterMs: null };
}

function times(count: number, note: () => boolean): readonly boolean[] {
  return Array.from({ length: count }, note);
}

describe('an error that is kept under a key', () => {
  it('is one that the service gives twelve times in the same words', () => {
    const errors = createStoredErrors();

    const notes = times(12, () => errors.note('key', lost('HTTP 500: broken')));

    expect(notes.indexOf(true)).toBe(11);
  });

  it('is not one whose words change, that is broken by another answer, or that never came from the service', () => {
    const errors = createStoredErrors();
    let count = 0;

    expect(times(30, () => errors.note('a', lost(`HTTP 500: ${(count += 1)}`))).includes(true)).toBe(false);
    for (let round = 0; round < 5; round += 1) {
      times(11, () => errors.note('b', lost('HTTP 500: broken')));
      expect(
        errors.note('b', { kind: 'not-now', reason: { code: 'x', message: 'HTTP 429' }, retryAfterMs: null }),
      ).toBe(false);
    }
    expect(times(30, () => errors.note('c', lost('The request may have arrived'))).includes(true)).toBe(false);
  });

  it('is counted for each key alone', () => {
    const errors = createStoredErrors();
    times(11, () => errors.note('one', lost('HTTP 500: broken')));

    expect(errors.note('two', lost('HTTP 500: broken'))).toBe(false);
    expect(errors.note('one', lost('HTTP 500: broken'))).toBe(true);
  });
});
