import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INVOICE_STATES } from '../../../../src/domain/invoice-state.ts';
import {
  type Attachment,
  type InvoiceLife,
  type Surroundings,
  NOTHING_SAID,
} from '../../../../src/domain/machine/invoice-life.ts';
import { attachmentOf, type Brought } from '../../../../src/domain/machine/invoice-staging.ts';

const NOW = 1_000;

const INVOICE: InvoiceLife & Surroundings = {
  ...{ state: 'held', exposure: 'none', generation: 1, fingerprint: 'same', idempotencyKey: 'key 1' },
  ...{ ownerBatch: 'earlier', serviceId: null, attempts: 0, asks: 0, firstSentAt: null, acceptedAt: null },
  ...{ settledAt: null, changedAt: 0, reason: null, flags: [], frozenAt: NOW, ownerIsClosed: true, kept: [] },
  said: NOTHING_SAID,
};

const BROUGHT: Brought = {
  ...{ batchId: 'later', fingerprint: 'same', isStaged: false, isAwaited: false, keepsRejected: false },
  ...{ riskAccepted: false, retentionMs: 10, wasLost: false, continuedKey: null, now: NOW },
  keyOf: (generation) => `key ${generation}`,
};

const OTHER = { fingerprint: 'other' };
const RUNNING = { ownerIsClosed: false };
const OWN = { ownerBatch: BROUGHT.batchId, ownerIsClosed: false };
const BLOCKED = { flags: ['issued-in-earlier-generation'] };
const DOUBTFUL = { flags: ['older-ledger'] };
const FORGOTTEN = { frozenAt: 0 };

const anInvoice = fc
  .record({
    state: fc.constantFrom(...INVOICE_STATES),
    ownerIsClosed: fc.boolean(),
    ownerBatch: fc.constantFrom('earlier', BROUGHT.batchId),
    flags: fc.subarray(['issued-in-earlier-generation', 'second-service-id', 'older-ledger']),
    frozenAt: fc.constantFrom(null, 0, NOW),
  })
  .map((given) => ({ ...INVOICE, ...given }));
const aBringing = fc
  .record({
    fingerprint: fc.constantFrom('same', 'other'),
    ...{ isStaged: fc.boolean(), isAwaited: fc.boolean(), keepsRejected: fc.boolean() },
    ...{ riskAccepted: fc.boolean(), wasLost: fc.boolean() },
  })
  .map((given) => ({ ...BROUGHT, ...given }));

/** What the decision lets the later batch send. */
const SENT: readonly Attachment[] = ['take-over', 'correct'];

describe('a file that brings an invoice which the ledger knows', () => {
  it('may send it only when nothing of it may be alive at the service, and other content only under a new key', () => {
    fc.assert(
      fc.property(anInvoice, aBringing, (invoice, brought) => {
        const decision = attachmentOf(invoice, brought);
        const isIdle = invoice.ownerIsClosed || (invoice.ownerBatch === brought.batchId && !brought.isStaged);
        const isSame = brought.fingerprint === invoice.fingerprint;
        const isBlocked = invoice.flags.some((flag) => flag !== 'older-ledger');
        const isDoubtful = invoice.flags.includes('older-ledger') && !brought.riskAccepted;

        if (decision === 'take-over') expect([isSame, isIdle]).toEqual([true, true]);
        if (decision === 'correct') expect(isSame).toBe(false);
        if (!SENT.includes(decision)) return;
        expect([isBlocked, isDoubtful]).toEqual([false, false]);
        expect(['failed', 'rejected', ...(isIdle ? ['staged', 'held'] : [])]).toContain(invoice.state);
      }),
    );
  });

  it.each<[Partial<InvoiceLife & Surroundings>, Partial<Brought>, Attachment]>([
    [{ state: 'issued' }, {}, 'already-issued'],
    [{ state: 'issued', ...RUNNING, ...BLOCKED }, {}, 'already-issued'],
    [{ state: 'staged' }, {}, 'take-over'],
    [{ state: 'held' }, {}, 'take-over'],
    [{ state: 'held', ...BLOCKED }, {}, 'attach'],
    [{ state: 'staged', ...RUNNING }, {}, 'attach'],
    [{ state: 'staged', ...OWN }, {}, 'take-over'],
    [{ state: 'staged', ...OWN }, { isStaged: true }, 'attach'],
    [{ state: 'failed' }, {}, 'attach'],
    [{ state: 'failed', ...RUNNING }, OTHER, 'correct'],
    [{ state: 'failed', ...FORGOTTEN }, OTHER, 'needs-risk'],
    [{ state: 'failed', ...FORGOTTEN }, { ...OTHER, riskAccepted: true }, 'correct'],
    [{ state: 'failed' }, { ...OTHER, keepsRejected: true }, 'correct'],
    [{ state: 'rejected' }, OTHER, 'correct'],
    [{ state: 'rejected', ...BLOCKED }, OTHER, 'conflict'],
    [{ state: 'rejected' }, { ...OTHER, keepsRejected: true }, 'needs-risk'],
    [{ state: 'rejected' }, { ...OTHER, wasLost: true }, 'needs-risk'],
    [{ state: 'held' }, { ...OTHER, keepsRejected: true }, 'correct'],
    [{ state: 'held', ...FORGOTTEN }, OTHER, 'correct'],
    [{ state: 'staged' }, OTHER, 'correct'],
    [{ state: 'held', ...RUNNING }, OTHER, 'conflict'],
    [{ state: 'held', flags: ['second-service-id'] }, OTHER, 'conflict'],
    [{ state: 'staged', ...OWN }, { isAwaited: true }, 'take-over'],
    [{ state: 'staged', ...OWN }, { ...OTHER, isAwaited: true }, 'conflict'],
    [{ state: 'failed', ...OWN }, { ...OTHER, isAwaited: true }, 'correct'],
    [{ state: 'held' }, { ...OTHER, wasLost: true }, 'needs-risk'],
    [{ state: 'held' }, { wasLost: true }, 'take-over'],
    [{ state: 'held' }, { ...OTHER, wasLost: true, continuedKey: 'key 7' }, 'correct'],
    [{ state: 'held', ...DOUBTFUL }, { riskAccepted: true }, 'attach'],
    [{ state: 'failed', ...DOUBTFUL }, OTHER, 'needs-risk'],
    [{ state: 'failed', ...DOUBTFUL }, { ...OTHER, riskAccepted: true }, 'correct'],
    [{ state: 'sending' }, OTHER, 'conflict'],
    [{ state: 'issued' }, OTHER, 'conflict'],
    [{ state: 'unknown' }, OTHER, 'conflict'],
  ])('%j, brought as %j: %s', (invoice, brought, decision) => {
    expect(attachmentOf({ ...INVOICE, ...invoice }, { ...BROUGHT, ...brought })).toBe(decision);
  });
});
