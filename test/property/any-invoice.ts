import fc from 'fast-check';
import type { Answer, Status } from '../../src/domain/machine/invoice-answers.ts';
import {
  NOTHING_SAID,
  type Decided,
  type EventsSaid,
  type InvoiceLife,
  type KeptGeneration,
  type Surroundings,
} from '../../src/domain/machine/invoice-life.ts';
import { INVOICE_STATES, type InvoiceState } from '../../src/domain/invoice-state.ts';
import { SPENT_KEY_REASONS } from '../../src/domain/retry-decision.ts';

export type Invoice = InvoiceLife & Surroundings;

export const NOW = 1_000_000;

export const time = fc.integer({ min: 0, max: NOW });
export const reason = fc
  .constantFrom('answer-lost', 'not-sent', 'retention-window-over', ...SPENT_KEY_REASONS)
  .map((code) => {
    return { code, message: code };
  });
export const batchId = fc.constantFrom('own', 'other');
const flags = fc.uniqueArray(
  fc.constantFrom('older-ledger', 'issued-in-earlier-generation', 'second-service-id', 'failure-unconfirmed'),
  { maxLength: 2 },
);

const said: fc.Arbitrary<EventsSaid> = fc.oneof(
  fc.constant(NOTHING_SAID),
  fc
    .record({
      issuedAt: fc.option(time),
      failedFirst: fc.boolean(),
      failedLater: fc.boolean(),
      failure: fc.option(reason),
    })
    .map((one) => {
      const failedLater = one.failedLater && one.issuedAt !== null;
      return { ...one, failedLater, failure: one.failedFirst || failedLater ? one.failure : null };
    }),
);

const DOCUMENT_STATES: readonly InvoiceState[] = ['accepted', 'unsettled', 'failed', 'issued'];

/** No other state has a document, and there are no events without one. */
function ofDocument<One extends { state: InvoiceState; said: EventsSaid }>(one: One, serviceId: string) {
  return DOCUMENT_STATES.includes(one.state) ? { ...one, serviceId } : { ...one, serviceId: null, said: NOTHING_SAID };
}

const keptFields = fc.record({
  generation: fc.constantFrom(-2, -1, 1, 2),
  fingerprint: fc.constantFrom('content', 'earlier content'),
  idempotencyKey: fc.constantFrom('key-1', 'key-2', 'key-3'),
  state: fc.constantFrom<InvoiceState[]>('accepted', 'failed', 'rejected', 'held', 'issued'),
  attempts: fc.integer({ min: 0, max: 3 }),
  firstSentAt: fc.option(time),
  settledAt: fc.option(time),
  reason: fc.option(reason),
  flags: fc.constant([]),
  said,
});

const keptGeneration: fc.Arbitrary<KeptGeneration> = keptFields.map((one) => {
  // Another document of a key has been accepted.
  const state = one.generation > 0 || DOCUMENT_STATES.includes(one.state) ? one.state : 'accepted';
  return ofDocument({ ...one, state }, `inv_of_${one.generation}`);
});

export const invoices: fc.Arbitrary<Invoice> = fc
  .record({
    state: fc.constantFrom(...INVOICE_STATES),
    exposure: fc.constantFrom('none' as const, 'open' as const, 'lost' as const),
    generation: fc.integer({ min: 1, max: 3 }),
    fingerprint: fc.constant('content'),
    ownerBatch: batchId,
    attempts: fc.integer({ min: 0, max: 3 }),
    asks: fc.integer({ min: 0, max: 3 }),
    firstSentAt: fc.option(time),
    acceptedAt: fc.option(time),
    settledAt: fc.option(time),
    changedAt: time,
    reason: fc.option(reason),
    flags,
    frozenAt: fc.option(time),
    ownerIsClosed: fc.boolean(),
    said,
    kept: fc.uniqueArray(keptGeneration, { selector: (one) => one.generation, maxLength: 2 }),
  })
  .map((invoice) => {
    const kept = invoice.kept.filter(({ generation }) => generation < invoice.generation);
    return ofDocument({ ...invoice, kept, idempotencyKey: keyOf(invoice.generation) }, 'inv_1');
  });

export function keyOf(generation: number): string {
  return `key-${generation}`;
}

export const status: fc.Arbitrary<Status> = fc.record({
  serviceId: fc.constantFrom('inv_1', 'inv_of_-1', 'inv_of_1', 'inv_of_2'),
  status: fc.constantFrom('issued', 'failed', 'processing', 'unreadable'),
  unconfirmed: fc.boolean(),
  reason: fc.option(reason),
  now: fc.constant(NOW),
});

export const answer: fc.Arbitrary<Answer> = fc.record({
  generation: fc.integer({ min: 1, max: 3 }),
  attempts: fc.integer({ min: 0, max: 2 }),
  sentAt: fc.constant(NOW),
  answeredAt: fc.constant(NOW),
  takenAt: fc.option(time),
  outcome: fc.oneof(
    fc.record({ kind: fc.constant('accepted' as const), serviceId: fc.constantFrom('inv_1', 'inv_4') }),
    fc.record({ kind: fc.constant('rejected' as const), reason, proven: fc.boolean() }),
    fc.record({ kind: fc.constantFrom('unknown' as const, 'held' as const), reason }),
    fc.record({ kind: fc.constant('pending' as const), reason, mayExist: fc.boolean() }),
  ),
  idIsTaken: fc.boolean(),
  sharesId: fc.boolean(),
});

/** The invoice after a command, in the same surroundings; a new generation has no bytes but those of the key that is asked once more. */
export function around(invoice: Invoice, { invoice: after, effects, kept = [] }: Decided): Invoice {
  const isNew = after.generation !== invoice.generation;
  return {
    ...after,
    kept: [...invoice.kept.filter((one) => kept.every(({ generation }) => generation !== one.generation)), ...kept],
    said:
      after.serviceId === invoice.serviceId
        ? invoice.said
        : (invoice.kept.find((one) => one.serviceId === after.serviceId)?.said ?? NOTHING_SAID),
    ownerIsClosed: invoice.ownerIsClosed,
    frozenAt: isNew && !effects?.includes('next-body') ? null : invoice.frozenAt,
  };
}
