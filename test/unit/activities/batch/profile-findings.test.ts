import { describe, expect, it } from 'vitest';
import { profileFindings } from '../../../../activities/batch/profile-findings.ts';
import type { OpenBreaker } from '../../../../src/domain/ports/ledger/breaker-ledger.ts';
import type { ProfileMisfit } from '../../../../src/domain/profile-misfit.ts';

const NOW = 1_000;
const at = { times: 3, firstAt: 1, lastAt: 2 };
const noted = (code: string): ProfileMisfit => ({ code, message: `about ${code}`, ...at });

function found(breakerCode: string | null, misfits: readonly ProfileMisfit[], baseUrl: string | null = 'http://s') {
  const reason = { code: breakerCode ?? '', message: 'why nothing is sent' };
  const breaker: OpenBreaker = { baseUrl: 'http://s', reason, openedAt: 5, probeAfter: 6, probingUntil: null };
  const ledger = {
    misfits: (digest: string) => Promise.resolve(digest === 'mine' ? misfits : []),
    breaker: () => Promise.resolve(breakerCode === null ? null : breaker),
  };
  return profileFindings(ledger, { profileDigest: 'mine', baseUrl, now: () => NOW });
}

describe('what is known of a service profile that does not fit', () => {
  it.each(['answers-unreadable', 'profile-contradiction', 'service-ids-repeated'])(
    'begins with the sentence for which nothing is sent, and says it once: %s',
    async (code) => {
      expect(await found(code, [noted('deliveries-refused'), noted(code)])).toEqual([
        { code, message: 'why nothing is sent', times: 1, firstAt: 5, lastAt: NOW },
        noted('deliveries-refused'),
      ]);
    },
  );

  it('leaves out an outage, a doubt, and a service that is not known', async () => {
    expect(await found('http-503', [noted('deliveries-unproven')])).toEqual([]);
    expect(await found('answers-unreadable', [], null)).toEqual([]);
  });
});
