import { describe, expect, it } from 'vitest';
import { damagedReference, hasValidChecksum, nifProblem, normalNif } from '../../../../src/ingest/invoice/identity.ts';

describe('identity of a row', () => {
  it('takes spaces out of a tax number, and nothing else', () => {
    expect(normalNif(' 501 964\u00a0843 ')).toBe('501964843');
    for (const cell of ['', ' ', 'PT501964843', '501-964-843', '501.964.843', '٥٠١', '1'.repeat(21)])
      expect(normalNif(cell)).toBeNull();
  });

  it('does not repeat a cell of any length', () => {
    expect(nifProblem('x'.repeat(10_000))?.message.length).toBeLessThan(120);
  });

  it('rejects every other check digit', () => {
    const right = checkDigit('50196484');
    for (let digit = 0; digit < 10; digit += 1)
      expect(hasValidChecksum(`50196484${digit}`)).toBe(String(digit) === right);
    expect(hasValidChecksum('12345678')).toBe(false);
  });

  it.each(['FT 2026/1', '2026/001', '1E5', '12-2026', '0001', '2026-1'])('leaves the reference %j alone', (ref) => {
    expect(damagedReference(ref)).toBeNull();
  });

  it.each(['01/02/2026', '1-2-2026', '2026-02-01', '2026-02-01 00:00:00', '1.2E+05'])('does not take %j', (ref) => {
    expect(damagedReference(ref)).not.toBeNull();
  });
});

/** The rule once more, in another form: weights 9 to 2, the rest of 11. */
function checkDigit(eight: string): string {
  const rest = Array.from(eight).reduce((sum, digit, at) => sum + Number(digit) * (9 - at), 0) % 11;
  return rest < 2 ? '0' : String(11 - rest);
}
