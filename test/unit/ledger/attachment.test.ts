import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INVOICE_STATES } from '../../../src/domain/invoice-state.ts';
import { decideAttachment } from '../../../src/ledger/attachment.ts';
import type { KnownIdentity } from '../../../src/ledger/attachment.ts';

const known: fc.Arbitrary<KnownIdentity> = fc.record({
  sameFingerprint: fc.boolean(),
  state: fc.constantFrom(...INVOICE_STATES),
  ownerClosed: fc.boolean(),
  blocked: fc.boolean(),
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

  it('never sends other content for an invoice that is not definitively refused, and then under a new key', () => {
    fc.assert(
      fc.property(known, (one) => {
        const decision = decideAttachment({ ...one, sameFingerprint: false });

        expect(['correct', 'conflict']).toContain(decision);
        if (decision === 'correct') expect(['failed', 'rejected']).toContain(one.state);
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
        expect(decideAttachment({ ...one, ownerClosed: false })).not.toBe('take-over');
      }),
    );
  });

  it.each([
    [{ state: 'issued', ownerClosed: true }, 'already-issued'],
    [{ state: 'issued', ownerClosed: false, blocked: true }, 'already-issued'],
    [{ state: 'staged', ownerClosed: true }, 'take-over'],
    [{ state: 'held', ownerClosed: true }, 'take-over'],
    [{ state: 'held', ownerClosed: true, blocked: true }, 'attach'],
    [{ state: 'staged', ownerClosed: false }, 'attach'],
    [{ state: 'failed', ownerClosed: true }, 'attach'],
    [{ state: 'failed', sameFingerprint: false, ownerClosed: false }, 'correct'],
    [{ state: 'rejected', sameFingerprint: false }, 'correct'],
    [{ state: 'rejected', sameFingerprint: false, blocked: true }, 'conflict'],
    [{ state: 'issued', sameFingerprint: false }, 'conflict'],
    [{ state: 'unknown', sameFingerprint: false, ownerClosed: true }, 'conflict'],
  ] as const)('%j: %s', (over, decision) => {
    expect(decideAttachment({ sameFingerprint: true, ownerClosed: true, blocked: false, ...over })).toBe(decision);
  });
});
