import fc from 'fast-check';
import { TRANSITIONS } from '../../docs/picture/state-graph.ts';
import { expect, it } from 'vitest';
import type { Answer } from '../../src/domain/machine/invoice-answers.ts';
import { hasEarlierKey, type Decided, type InvoiceLife } from '../../src/domain/machine/invoice-life.ts';
import { attachmentOf } from '../../src/domain/machine/invoice-staging.ts';
import { decide, type Command } from '../../src/domain/machine/invoice-machine.ts';
import type { InvoiceState } from '../../src/domain/invoice-state.ts';
import { answer, around, batchId, invoices, keyOf, NOW, reason, status, time, type Invoice } from './any-invoice.ts';

/** Of single commands to any invoice, also to one that no history leads to; `invoice-histories.test.ts` has the histories. */
const RUNS = { numRuns: 10_000 } as const;

const policy = fc.record({
  maxGenerations: fc.integer({ min: 1, max: 3 }),
  retentionMs: fc.integer({ min: 0, max: NOW }),
  rejectionIsProof: fc.boolean(),
  acceptDuplicateRisk: fc.boolean(),
  unattended: fc.boolean(),
  now: fc.constant(NOW),
});

const base = { batchId, reason, now: fc.constant(NOW) };
const commands: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constant('hold' as const), unanswered: fc.option(reason), andHeld: fc.boolean(), ...base }),
  fc.record({ kind: fc.constant('close' as const), unsent: reason, ...base }),
  fc.record({ kind: fc.constant('expire' as const), acceptedBefore: time, reason, now: fc.constant(NOW) }),
  fc.record({ kind: fc.constant('release' as const), batchId, now: fc.constant(NOW) }),
  fc.record({ kind: fc.constant('repeat' as const), batchId, frozenAfter: time }),
  fc.record({ kind: fc.constant('unfreeze' as const), generation: fc.integer({ min: 1, max: 3 }), ...base }),
  fc.record({ kind: fc.constant('hand-out' as const), batchId }),
  fc.record({ kind: fc.constant('doubt' as const), ...base }),
  fc.record({
    kind: fc.constant('sent-without' as const),
    idempotencyKey: fc.constantFrom('key-1', 'key-2', 'key-3'),
    reason,
    now: fc.constant(NOW),
  }),
  fc.record({ kind: fc.constant('give-up' as const), staleBefore: time, frozenUntil: time, ...base }),
  fc.record({ kind: fc.constant('end-repeats' as const), messageAhead: fc.constant('a'), frozenUntil: time, ...base }),
  fc.record({
    kind: fc.constant('stage' as const),
    ...{ batchId, fingerprint: fc.constantFrom('content', 'other content'), now: fc.constant(NOW) },
    ...{ isStaged: fc.boolean(), isAwaited: fc.boolean(), keepsRejected: fc.boolean(), riskAccepted: fc.boolean() },
    ...{ retentionMs: fc.constantFrom(0, Infinity), wasLost: fc.boolean(), keyOf: fc.constant(keyOf) },
    continuedKey: fc.option(fc.constant('key-other')),
  }),
  fc.record({
    kind: fc.constant('next-key' as const),
    ...{ generation: fc.integer({ min: 1, max: 3 }), idempotencyKey: fc.constant('key-own') },
    ...{ attempts: fc.integer({ min: 0, max: 2 }), isProven: fc.boolean(), now: fc.constant(NOW) },
  }),
  fc.constant({ kind: 'share' as const }),
  fc.record({
    kind: fc.constant('freeze' as const),
    ...{ batchId, generation: fc.integer({ min: 1, max: 3 }), mayExist: fc.boolean(), now: fc.constant(NOW) },
  }),
  fc.record({ kind: fc.constant('take' as const), staleBefore: time, frozenAfter: time, now: fc.constant(NOW) }),
  fc.record({ kind: fc.constant('pass-on' as const), heir: batchId, reason: fc.option(reason), batchId }),
  fc.record({ kind: fc.constant('restore' as const), generation: fc.constantFrom(1, 2), heir: batchId, batchId }),
  fc.record({
    kind: fc.constant('hear' as const),
    statuses: fc.uniqueArray(status, { selector: (one) => one.serviceId, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant('record' as const), answer }),
  fc.record({
    kind: fc.constant('retry' as const),
    ...{ batchId, policy, totalUnconfirmed: fc.boolean(), keyOf: fc.constant(keyOf) },
  }),
);

/** The service may have a document of its present key. */
function mayExist({ state, exposure }: InvoiceLife): boolean {
  return (state === 'sending' && exposure !== 'none') || ['unknown', 'accepted', 'unsettled', 'issued'].includes(state);
}

const PROVED_ABSENT: readonly InvoiceState[] = ['staged', 'held', 'rejected'];

it('calls nothing unsent that may exist, but for the attempt that froze it and an accepted risk', () => {
  fc.assert(
    fc.property(invoices, commands, (invoice, command) => {
      const decided = decide(invoice, command);
      if ('refusal' in decided || !mayExist(invoice) || !PROVED_ABSENT.includes(decided.invoice.state)) return;
      if (command.kind === 'unfreeze') expect(invoice.exposure).toBe('open');
      else if (command.kind === 'next-key') expectEarlierKeyAsked(invoice, command.isProven);
      else if (command.kind === 'record') expectProof(invoice, command.answer, decided);
      else if (command.kind === 'hear') expect(hasEarlierKey(invoice), 'no POST of its own key has left').toBe(true);
      else expect(command).toMatchObject({ kind: 'retry', policy: { acceptDuplicateRisk: true } });
    }),
    RUNS,
  );
});

it('sends nothing by itself that was sent without the ledger with another key', () => {
  const lost = {
    kind: 'sent-without',
    idempotencyKey: 'key-of-then',
    reason: { code: 'older', message: '' },
    now: NOW,
  } as const;
  fc.assert(
    fc.property(invoices, fc.array(commands, { maxLength: 6 }), (invoice, orders) => {
      let current = invoice;
      const doubted = decide(invoice, lost);
      expect('refusal' in doubted).toBe(invoice.state === 'issued');
      if ('refusal' in doubted) return;
      current = around(invoice, doubted);
      for (const command of orders) {
        const decided = decide(current, command);
        if ('refusal' in decided) continue;
        if (decided.invoice.state === 'issued') return;
        // Or the very content that was sent last is sent once more, with its key.
        if (command.kind === 'stage' && (command.riskAccepted || command.continuedKey !== null)) return;
        if (command.kind === 'retry' && command.policy.acceptDuplicateRisk) return;
        current = around(current, decided);
        expect(['staged', 'sending']).not.toContain(current.state);
      }
    }),
    RUNS,
  );
});

/** No POST of its own key has left, and what came of the earlier one is known. */
function expectEarlierKeyAsked(invoice: Invoice, isProven: boolean): void {
  expect(hasEarlierKey(invoice) && (invoice.exposure !== 'lost' || isProven)).toBe(true);
}

/** The answer to the POST of its only attempt, one that proves, or a document that an earlier key of it brought. */
function expectProof(invoice: Invoice, { outcome, takenAt }: Answer, { invoice: after, kept = [] }: Decided): void {
  expect(invoice.state).toBe('sending');
  if (kept.length > 0) {
    expect(hasEarlierKey(invoice)).toBe(true);
    expect(after.flags).toContain('second-service-id');
  } else if (invoice.exposure === 'lost') {
    expect(outcome).toMatchObject({ kind: 'rejected', proven: true });
    expect([null, invoice.changedAt]).toContain(takenAt);
  } else expect(outcome.kind).toBe(after.state);
}

it('makes the moves that docs/architecture.md shows, and no other, but to restore what a correction had replaced', () => {
  const moves = Object.values<{ from: readonly InvoiceState[]; to: InvoiceState }>(TRANSITIONS);
  fc.assert(
    fc.property(invoices, commands, (invoice, command) => {
      const decided = decide(invoice, command);
      if ('refusal' in decided || decided.invoice.state === invoice.state || command.kind === 'restore') return;
      const { state } = decided.invoice;
      expect(moves.some(({ from, to }) => to === state && from.includes(invoice.state))).toBe(true);
    }),
    RUNS,
  );
});

it('moves an invoice only for the batch that owns it, or once that batch is closed', () => {
  fc.assert(
    fc.property(invoices, commands, (invoice, command) => {
      if (!('batchId' in command) || command.batchId === invoice.ownerBatch || invoice.ownerIsClosed) return;
      const isCorrection = command.kind === 'stage' && attachmentOf(invoice, command) === 'correct';
      if (isCorrection) expect(['failed', 'rejected']).toContain(invoice.state);
      expect('refusal' in decide(invoice, command)).toBe(!isCorrection);
    }),
    RUNS,
  );
});
