import { describe, expect, it } from 'vitest';
import { fittingReference } from '../../../../src/domain/look-alike.ts';

describe('fittingReference', () => {
  it.each([
    ['leaves a reference of 200 characters as it is', 'R'.repeat(200), 'R'.repeat(200)],
    ['keeps the beginning of a longer one', `${'R'.repeat(199)}12`, `${'R'.repeat(199)}…`],
    ['never ends with half of a character', `${'R'.repeat(198)}😀😀`, `${'R'.repeat(198)}…`],
  ])('%s', (_, ref, fitting) => {
    expect(fittingReference(ref)).toBe(fitting);
  });
});
