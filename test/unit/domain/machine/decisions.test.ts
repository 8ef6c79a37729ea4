import { describe, expect, it } from 'vitest';
import type { Reason } from '../../../../src/domain/invoice.ts';
import type { Answer, Status } from '../../../../src/domain/machine/invoice-answers.ts';
import { type EventsSaid, type KeptGeneration, NOTHING_SAID } from '../../../../src/domain/machine/invoice-life.ts';
import { type Command, decide } from '../../../../src/domain/machine/invoice-machine.ts';
import { around, type Invoice } from '../../../property/any-invoice.ts';
import { withEvent } from '../../../property/histories/service.ts';

/**
 * What the machine makes of several commands to one invoice, by example. `decision-table.test.ts` shows each single
 * decision, `test/property` promises what holds of every history, and `test/contract/ledger` that both databases write
 * what the machine decides.
 */
interface Event {
  readonly verdict: 'issued' | 'failed';
  readonly at: number;
  readonly reason: Reason | null;
  readonly of: string;
}
type Step = Command | Event;
type Row = readonly [what: string, before: Partial<Invoice>, steps: readonly Step[], after: Partial<Invoice>];

const WHY: Reason = { code: 'because', message: 'because' };
const LATER: Reason = { code: 'later', message: 'later' };

const SENDING: Invoice = {
  ...{ state: 'sending', exposure: 'open', generation: 1, fingerprint: 'content', idempotencyKey: 'key-1' },
  ...{ ownerBatch: 'own', serviceId: null, attempts: 0, asks: 0, firstSentAt: null, acceptedAt: null },
  ...{ settledAt: null, changedAt: 0, reason: null, flags: [], frozenAt: 1, ownerIsClosed: false, kept: [] },
  said: NOTHING_SAID,
};
const STAGED: Partial<Invoice> = { state: 'staged', exposure: 'none' };
const ACCEPTED: Partial<Invoice> = { state: 'accepted', serviceId: 'inv_1', attempts: 1, acceptedAt: 10 };

function answer(outcome: Answer['outcome'], over: Partial<Answer> = {}): Command {
  const given = { generation: 1, attempts: 1, sentAt: 20, answeredAt: 30, takenAt: null };
  return { kind: 'record', answer: { ...given, idIsTaken: false, sharesId: false, outcome, ...over } };
}

const accept = (serviceId = 'inv_1', over: Partial<Answer> = {}) => answer({ kind: 'accepted', serviceId }, over);
const pending = (mayExist: boolean, reason = WHY) => answer({ kind: 'pending', reason, mayExist });
const ends = (kind: 'rejected' | 'held' | 'unknown', reason = WHY) => answer({ kind, reason });

function get(status: Status['status'], now: number, over: Partial<Status> = {}): Command {
  return { kind: 'hear', statuses: [{ serviceId: 'inv_1', status, reason: null, now, ...over }] };
}

function event(verdict: Event['verdict'], at: number, over: Partial<Event> = {}): Event {
  return { verdict, at, reason: null, of: 'inv_1', ...over };
}

/** An earlier generation that failed, with the same content unless told. */
function earlier(over: Partial<KeptGeneration> = {}): Pick<Invoice, 'generation' | 'idempotencyKey' | 'kept'> {
  const one: KeptGeneration = {
    ...{ generation: 1, fingerprint: 'content', idempotencyKey: 'key-1', state: 'failed', serviceId: 'inv_0' },
    ...{ attempts: 1, firstSentAt: 2, settledAt: 5, reason: WHY, flags: [], said: NOTHING_SAID, ...over },
  };
  return { generation: 2, idempotencyKey: 'key-2', kept: [one] };
}

const OTHER = earlier({ fingerprint: 'other content' });
const RISES = event('issued', 90, { of: 'inv_0' });

/** The invoice after these steps. As in the ledger, the events of a document are heard after each. */
function after(before: Invoice, steps: readonly Step[]): Invoice {
  const said = new Map<string | null, EventsSaid>();
  const heard = ({ serviceId }: { readonly serviceId: string | null }) => said.get(serviceId) ?? NOTHING_SAID;
  let invoice = before;
  for (const step of steps) {
    if ('verdict' in step) {
      const now = withEvent(heard({ serviceId: step.of }), step.verdict, step.at);
      said.set(step.of, step.verdict === 'failed' ? { ...now, failure: step.reason } : now);
    }
    for (const command of 'verdict' in step ? [HEAR] : [step, HEAR]) {
      const kept = invoice.kept.map((one) => ({ ...one, said: heard(one) }));
      invoice = { ...invoice, said: heard(invoice), kept };
      const decided = decide(invoice, command);
      if (!('refusal' in decided)) invoice = around(invoice, decided);
    }
  }
  return invoice;
}

const HEAR: Command = { kind: 'hear', statuses: [] };
const issuedAt = (settledAt: number, ...flags: string[]): Partial<Invoice> => {
  return { state: 'issued', settledAt, reason: null, flags };
};
const BOTH = ['issued-after-failed', 'failed-after-issued'];
const SECOND = 'second-service-id';
const RISEN = 'issued-in-earlier-generation';

describe('the answer to a POST', () => {
  it.each<Row>([
    ['rejected after tries that did not arrive', {}, [pending(false), ends('rejected')], { state: 'rejected' }],
    ['held after tries that did not arrive', {}, [pending(false), ends('held')], { state: 'held' }],
    ['held after one that may have', {}, [pending(true), pending(false), ends('held')], { state: 'unknown' }],
    [
      'pending, and no POST of its own',
      {},
      [answer({ kind: 'pending', reason: WHY, mayExist: false }, { attempts: 0 }), pending(true, LATER)],
      { state: 'sending', exposure: 'lost', reason: LATER, attempts: 1, firstSentAt: 20 },
    ],
    ['accepted after all', {}, [ends('unknown'), accept()], { state: 'accepted', reason: null, attempts: 2 }],
    [
      'that proves nothing of an unknown one',
      {},
      [ends('unknown'), ends('unknown', LATER), ends('held', LATER), ends('rejected', LATER), pending(false, LATER)],
      { state: 'unknown', reason: WHY, attempts: 5 },
    ],
    [
      'late, of an accepted one',
      ACCEPTED,
      [ends('rejected'), ends('held'), ends('unknown'), pending(true)],
      { ...ACCEPTED, reason: null },
    ],
    ['of a staged one', STAGED, [ends('rejected'), ends('unknown'), accept()], { ...STAGED, attempts: 0 }],
    [
      'with a second id',
      {},
      [accept(), accept('inv_2', { attempts: 3, sentAt: 70 }), accept('inv_2')],
      { state: 'accepted', serviceId: 'inv_1', attempts: 1, firstSentAt: 20, acceptedAt: 30, flags: [SECOND] },
    ],
    [
      'accepted, once it was held: its document is asked for',
      {},
      [ends('held'), accept(), get('issued', 50)],
      { ...issuedAt(50, SECOND, 'issued-after-failed'), serviceId: 'inv_1' },
    ],
    ['accepted, once it was rejected', {}, [ends('rejected'), accept()], { state: 'rejected', flags: [SECOND] }],
  ])('%s', (_, before, steps, expected) => {
    expect(after({ ...SENDING, ...before }, steps)).toMatchObject(expected);
  });
});

describe('an accepted invoice hears', () => {
  it.each<Row>([
    ['several issued events', {}, [event('issued', 5), event('issued', 9)], issuedAt(5)],
    ['failed, then issued', {}, [event('failed', 1), event('issued', 2)], issuedAt(2, 'issued-after-failed')],
    [
      'issued, then failed twice',
      {},
      [event('issued', 1), event('failed', 2), event('failed', 3)],
      issuedAt(1, 'failed-after-issued'),
    ],
    [
      'events that contradict each other in turn',
      {},
      [event('failed', 1), event('issued', 2), event('failed', 3), event('issued', 4)],
      issuedAt(2, ...BOTH),
    ],
    ['issued after a GET that said failed', {}, [get('failed', 50), event('issued', 90)], issuedAt(90, BOTH[0] ?? '')],
    ['failed after a GET that said issued', {}, [get('issued', 50), event('failed', 90)], issuedAt(50, BOTH[1] ?? '')],
    [
      'a failed event again that a GET has contradicted',
      {},
      [event('failed', 1), get('issued', 50), event('failed', 90)],
      issuedAt(50, 'issued-after-failed'),
    ],
    [
      'GETs that contradict each other',
      {},
      [get('failed', 50), get('issued', 60), get('failed', 70), get('failed', 80)],
      issuedAt(60, ...BOTH),
    ],
    [
      'a GET that says failed again, and another reason',
      {},
      [get('failed', 50, { reason: WHY }), get('failed', 900, { reason: LATER })],
      { state: 'failed', settledAt: 50, reason: WHY },
    ],
    [
      'a failed event that a GET confirms with its own reason',
      {},
      [event('failed', 1, { reason: LATER }), get('failed', 50, { reason: WHY })],
      { state: 'failed', reason: WHY, flags: [] },
    ],
    [
      'a failed event that a GET confirms without one',
      {},
      [event('failed', 1, { reason: WHY }), get('failed', 50)],
      { state: 'failed', reason: WHY, flags: [] },
    ],
    [
      'a failed event and a GET that cannot be read',
      {},
      [event('failed', 1, { reason: WHY }), get('unreadable', 50)],
      { state: 'failed', reason: WHY, flags: ['failure-unconfirmed'] },
    ],
    [
      'a failed event that a GET does not confirm',
      {},
      [event('failed', 1), get('processing', 50)],
      { state: 'accepted', settledAt: null, flags: [], asks: 1 },
    ],
    [
      'as many asks as have come due, and never fewer than before',
      {},
      [get('processing', 50, { asks: 4 }), get('processing', 50, { asks: 2 }), get('processing', 50)],
      { asks: 5 },
    ],
  ])('%s', (_, before, steps, expected) => {
    expect(after({ ...SENDING, ...ACCEPTED, ...before }, steps)).toMatchObject(expected);
  });

  it.each<Row>([
    [
      'events before the answer, the last one again',
      {},
      [event('failed', 1), event('issued', 5), event('issued', 9), accept()],
      issuedAt(5, 'issued-after-failed'),
    ],
    [
      'events before it, failed the last one',
      {},
      [event('issued', 1), event('failed', 2), accept()],
      issuedAt(1, BOTH[1] ?? ''),
    ],
  ])('%s', (_, before, steps, expected) => {
    expect(after({ ...SENDING, ...before }, steps)).toMatchObject(expected);
  });
});

describe('two documents of one key', () => {
  const second = (status: 'issued' | 'failed') => get(status, 60, { serviceId: 'inv_2' });
  it.each<Row>([
    [
      'the other one is issued',
      {},
      [event('issued', 9, { of: 'inv_2' })],
      { ...issuedAt(9, SECOND), serviceId: 'inv_2' },
    ],
    ['the first has failed', {}, [get('failed', 50)], { state: 'accepted' }],
    [
      'both have failed',
      {},
      [get('failed', 50), second('failed'), get('failed', 70)],
      { state: 'failed', serviceId: 'inv_1' },
    ],
    [
      'the first has failed, and the other is issued',
      {},
      [get('failed', 50), second('issued')],
      { state: 'issued', serviceId: 'inv_2' },
    ],
    [
      'both are issued',
      {},
      [event('issued', 8), event('issued', 9, { of: 'inv_2' })],
      { ...issuedAt(8, SECOND, RISEN), serviceId: 'inv_1' },
    ],
  ])('%s', (_, before, steps, expected) => {
    expect(after({ ...SENDING, ...before }, [accept(), accept('inv_2'), ...steps])).toMatchObject(expected);
  });
});

describe('an earlier document that is issued after all', () => {
  const byIt = { ...issuedAt(90, 'issued-after-failed'), serviceId: 'inv_0', idempotencyKey: 'key-1' };
  it.each<Row>([
    [
      'failed too, and is issued as well',
      { ...ACCEPTED, state: 'failed', ...earlier() },
      [RISES, event('issued', 95)],
      { ...byIt, flags: ['issued-after-failed', RISEN] },
    ],
    [
      'accepted, and fails later',
      { ...ACCEPTED, ...earlier() },
      [RISES, get('failed', 95)],
      { ...byIt, flags: [RISEN, 'issued-after-failed'] },
    ],
    [
      'accepted, and fails by an event that no GET can read',
      { ...ACCEPTED, ...earlier() },
      [RISES, event('failed', 95), get('unreadable', 96)],
      { ...byIt, flags: [RISEN, 'failure-unconfirmed', 'issued-after-failed'] },
    ],
    [
      'sent at a risk, and refused',
      { ...earlier(), flags: [RISEN] },
      [RISES, answer({ kind: 'rejected', reason: WHY }, { generation: 2 })],
      { state: 'unknown' },
    ],
    [
      'other content that is issued',
      { ...ACCEPTED, ...OTHER },
      [event('issued', 80), RISES],
      { ...issuedAt(80, RISEN), serviceId: 'inv_1' },
    ],
    [
      'other content that fails later',
      { ...ACCEPTED, ...OTHER },
      [RISES, get('failed', 95)],
      { state: 'failed', flags: [RISEN] },
    ],
  ])('%s', (_, before, steps, expected) => {
    expect(after({ ...SENDING, ...before }, steps)).toMatchObject(expected);
  });
});

describe('an earlier generation that is accepted after all', () => {
  const late = accept('inv_0');
  const given = earlier({ state: 'unknown', serviceId: null });
  it.each<Row>([
    [
      'unsent, and its event',
      { ...STAGED, ...given },
      [late, RISES],
      { state: 'issued', serviceId: 'inv_0', settledAt: 90 },
    ],
    [
      'unsent, after its event',
      { ...STAGED, ...given },
      [RISES, late],
      { state: 'issued', serviceId: 'inv_0', settledAt: 90 },
    ],
    [
      'accepted, and that fails after its event',
      { ...ACCEPTED, ...given },
      [late, RISES, get('failed', 95)],
      { ...issuedAt(90, SECOND, RISEN, 'issued-after-failed'), serviceId: 'inv_0' },
    ],
  ])('%s', (_, before, steps, expected) => {
    expect(after({ ...SENDING, ...before }, steps)).toMatchObject(expected);
  });
});
