import { describe, expect, it } from 'vitest';
import { refusedRepeat } from '../../../../activities/sending/earlier-key.ts';

const REASON = { code: 'tax-code', message: 'HTTP 422: unknown tax code' };
const MINUTE_MS = 60_000;

/** What a refusal proves that came `afterMs` after the POST before it had left. */
function refused(refusedRepeatIsProof: boolean, afterMs: number) {
  const lastTriedAt = 1_000;
  return refusedRepeat({ refusedRepeatIsProof }, { reason: REASON, sentAt: lastTriedAt + afterMs, lastTriedAt });
}

describe('the refusal of a repeat after a lost answer', () => {
  it('proves that nothing was created where the profile says so, once the lost POST cannot be on its way any more', () => {
    expect(refused(true, MINUTE_MS)).toEqual({ kind: 'rejected', reason: REASON, proven: true });
  });

  it('proves nothing while the lost POST may still be on its way', () => {
    expect(refused(true, MINUTE_MS - 1)).toMatchObject({ kind: 'unknown' });
  });

  it('proves nothing where the profile does not say so, and tells what the service said and what to do', () => {
    expect(refused(false, MINUTE_MS)).toEqual({
      kind: 'unknown',
      reason: {
        code: 'refused-after-lost-answer',
        message: expect.stringMatching(
          /HTTP 422: unknown tax code.*may have created the invoice.*idempotency\.refusedRepeatIsProof/,
        ) as string,
      },
    });
  });
});
