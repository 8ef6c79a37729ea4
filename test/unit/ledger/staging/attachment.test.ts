import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INVOICE_STATES } from '../../../../src/domain/invoice-state.ts';
import { decideAttachment } from '../../../../src/ledger/staging/attachment.ts';
import type { KnownIdentity } from '../../../../src/ledger/staging/attachment.ts';

const known: fc.Arbitrary<KnownIdentity> = fc.record({
  sameFingerprint: fc.boolean(),
  state: fc.constantFrom(...INVOICE_STATES),
  ownerIdle: fc.boolean(),
  awaited: fc.boolean(),
  blocked: fc.boolean(),
  keepsRejected: fc.boolean(),
  isDoubtful: fc.boolean(),
  inSendingGap: fc.boolean(),
  riskAccepted: fc.boolean(),
});

/** What the decision allows the new batch to do. */
function mayBeSentByIt(one: KnownIdentity): boolean {
  return ['take-over', 'correct'].includes(decideAttachment(one));
}

describe('a file that brings an invoice which the ledger knows', () => {
  it('may send it only when nothing of it may be alive at the service', () => {
    fc.assert(
      fc.property(known, (one) => {
        if (mayBeSentByIt(one)) expect(['staged', 'held', 'failed', 'rejected']).toContain(one.state);
      }),
    );
  });

  it('never sends what an operator has to decide about', () => {
    fc.assert(
      fc.property(known, (one) => {
        expect(mayBeSentByIt({ ...one, blocked: true })).toBe(false);
      }),
    );
  });

  it('sends other content only for an invoice that the service definitively refused, or was never asked for, and then under a new key', () => {
    fc.assert(
      fc.property(known, (one) => {
        const decision = decideAttachment({ ...one, sameFingerprint: false });

        expect(['correct', 'needs-risk', 'conflict']).toContain(decision);
        if (decision !== 'correct') return;
        expect(['failed', 'rejected', ...(one.ownerIdle ? ['staged', 'held'] : [])]).toContain(one.state);
      }),
    );
  });

  it('replaces what was rejected only where the refusal is proof, or the risk was accepted; all else goes as it does', () => {
    fc.assert(
      fc.property(known, (one) => {
        const other = { ...one, sameFingerprint: false, isDoubtful: false, inSendingGap: false };
        const decision = decideAttachment({ ...other, keepsRejected: true });
        const proved = decideAttachment({ ...other, keepsRejected: false });

        expect(proved).not.toBe('needs-risk');
        expect(decision).toBe(one.state === 'rejected' && proved === 'correct' ? 'needs-risk' : proved);
      }),
    );
  });

  it('never sends the same content under a new key: that needs a retry', () => {
    fc.assert(
      fc.property(known, (one) => {
        expect(decideAttachment({ ...one, sameFingerprint: true })).not.toBe('correct');
      }),
    );
  });

  it('takes nothing from a batch that still runs, but for a correction', () => {
    fc.assert(
      fc.property(known, (one) => {
        expect(decideAttachment({ ...one, ownerIdle: false })).not.toBe('take-over');
      }),
    );
  });

  it('sends nothing of what may have been sent since the copy of a restored ledger, unless its risk was accepted', () => {
    fc.assert(
      fc.property(known, (one) => {
        expect(mayBeSentByIt({ ...one, isDoubtful: true, riskAccepted: false })).toBe(false);
      }),
    );
  });

  it.each([
    [{ state: 'issued', ownerIdle: true }, 'already-issued'],
    [{ state: 'issued', ownerIdle: false, blocked: true }, 'already-issued'],
    [{ state: 'staged', ownerIdle: true }, 'take-over'],
    [{ state: 'held', ownerIdle: true }, 'take-over'],
    [{ state: 'held', ownerIdle: true, blocked: true }, 'attach'],
    [{ state: 'staged', ownerIdle: false }, 'attach'],
    [{ state: 'failed', ownerIdle: true }, 'attach'],
    [{ state: 'failed', sameFingerprint: false, ownerIdle: false }, 'correct'],
    [{ state: 'rejected', sameFingerprint: false }, 'correct'],
    [{ state: 'rejected', sameFingerprint: false, blocked: true }, 'conflict'],
    [{ state: 'rejected', sameFingerprint: false, keepsRejected: true }, 'needs-risk'],
    [{ state: 'failed', sameFingerprint: false, keepsRejected: true }, 'correct'],
    [{ state: 'held', sameFingerprint: false, keepsRejected: true }, 'correct'],
    [{ state: 'held', sameFingerprint: false }, 'correct'],
    [{ state: 'staged', sameFingerprint: false }, 'correct'],
    [{ state: 'held', sameFingerprint: false, ownerIdle: false }, 'conflict'],
    [{ state: 'held', sameFingerprint: false, blocked: true }, 'conflict'],
    [{ state: 'staged', awaited: true }, 'take-over'],
    [{ state: 'staged', sameFingerprint: false, awaited: true }, 'conflict'],
    [{ state: 'failed', sameFingerprint: false, awaited: true }, 'correct'],
    [{ state: 'held', sameFingerprint: false, inSendingGap: true }, 'needs-risk'],
    [{ state: 'staged', sameFingerprint: false, inSendingGap: true }, 'needs-risk'],
    [{ state: 'held', inSendingGap: true }, 'take-over'],
    [{ state: 'held', isDoubtful: true, riskAccepted: true }, 'attach'],
    [{ state: 'rejected', sameFingerprint: false, inSendingGap: true }, 'needs-risk'],
    [{ state: 'failed', sameFingerprint: false, isDoubtful: true }, 'needs-risk'],
    [{ state: 'failed', sameFingerprint: false, isDoubtful: true, riskAccepted: true }, 'correct'],
    [{ state: 'sending', sameFingerprint: false }, 'conflict'],
    [{ state: 'issued', sameFingerprint: false }, 'conflict'],
    [{ state: 'unknown', sameFingerprint: false, ownerIdle: true }, 'conflict'],
  ] as const)('%j: %s', (over, decision) => {
    const known = {
      sameFingerprint: true,
      ownerIdle: true,
      awaited: false,
      blocked: false,
      keepsRejected: false,
      isDoubtful: false,
      inSendingGap: false,
      riskAccepted: false,
      ...over,
    };
    expect(decideAttachment(known)).toBe(decision);
  });
});
