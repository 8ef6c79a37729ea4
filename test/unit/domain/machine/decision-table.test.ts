import { describe, expect, it } from 'vitest';
import type { Answer, Status } from '../../../../src/domain/machine/invoice-answers.ts';
import { type Decided, type KeptGeneration, NOTHING_SAID } from '../../../../src/domain/machine/invoice-life.ts';
import { type Command, decide } from '../../../../src/domain/machine/invoice-machine.ts';
import type { Reason } from '../../../../src/domain/invoice.ts';
import type { RetryPolicy } from '../../../../src/domain/retry-decision.ts';
import type { Invoice } from '../../../property/any-invoice.ts';

/**
 * Every command to every kind of invoice, as a table to read: `test/golden/machine/COMMAND.txt`. Below each command stand
 * its results and the invoices that get them; an invoice that the table does not name is refused as `not-now`. Review each
 * changed line like a changed rule (`npx vitest run FILE -u` writes the table).
 */
const NOW = 1_000_000_000;
/** Clocks may differ by two minutes; a later time is wrong. */
const FUTURE = NOW + 120_001;
const SOON = NOW + 120_000;
/** Freezing and change: the retention window and the patience with a process end at `LONG_AGO`. */
const RECENT = NOW - 1_000;
const LONG_AGO = NOW - 5_000;
const RETENTION_MS = NOW - LONG_AGO;

const TIMES = { now: NOW, future: FUTURE, soon: SOON, recent: RECENT, 'long ago': LONG_AGO } as const;
/** A time by its name; another number as it is. */
function timeName(value: number): string | number {
  const known = Object.entries(TIMES).find(([, at]) => at === value || at === value - 1);
  return known === undefined ? value : known[1] === value ? known[0] : `${known[0]} + 1`;
}

const WHY = { code: 'because', message: 'because' };
const UNANSWERED = { code: 'unanswered', message: 'unanswered' };

const SENDING: Invoice = {
  state: 'sending',
  exposure: 'open',
  generation: 1,
  fingerprint: 'content',
  idempotencyKey: 'key-1',
  ownerBatch: 'own',
  serviceId: null,
  attempts: 1,
  asks: 2,
  firstSentAt: RECENT,
  acceptedAt: null,
  settledAt: null,
  changedAt: RECENT,
  reason: null,
  flags: [],
  frozenAt: RECENT,
  ownerIsClosed: false,
  kept: [],
  said: NOTHING_SAID,
};

type Part = Partial<Invoice>;

const reason = (code: string): Part => ({ reason: { code, message: code } });
const flags = (...names: string[]): Part => ({ flags: names });
const OTHER_OWNER: Part = { ownerBatch: 'other' };
const CLOSED: Part = { ownerBatch: 'other', ownerIsClosed: true };
const UNSENT: Part = { exposure: 'none', attempts: 0, firstSentAt: null, frozenAt: null };
const DOUBTFUL: Part = { flags: ['older-ledger'] };
const RISEN: Part = { flags: ['issued-in-earlier-generation'] };
const SECOND: Part = { flags: ['second-service-id'] };

function said(words: Partial<Invoice['said']>): Invoice['said'] {
  return { ...NOTHING_SAID, ...words };
}

const SAID = {
  issued: said({ issuedAt: RECENT }),
  failed: said({ failedFirst: true, failure: WHY }),
  'failed, then issued': said({ issuedAt: RECENT, failedFirst: true }),
  'issued, then failed': said({ issuedAt: RECENT, failedLater: true }),
} as const;

/** A generation that has ended, as the machine keeps it. */
function kept(over: Partial<KeptGeneration> = {}): KeptGeneration {
  const { generation, fingerprint, idempotencyKey, attempts, firstSentAt } = SENDING;
  return {
    ...{ generation, fingerprint, idempotencyKey, attempts, firstSentAt, state: 'failed', serviceId: 'inv_0' },
    ...{ settledAt: LONG_AGO, reason: WHY, flags: [], said: NOTHING_SAID, ...over },
  };
}

function second(...earlier: readonly KeptGeneration[]): Part {
  return { generation: 2, idempotencyKey: 'key-2', kept: earlier };
}

function third(...earlier: readonly KeptGeneration[]): Part {
  return { generation: 3, idempotencyKey: 'key-3', kept: earlier };
}

const OTHER_CONTENT = { fingerprint: 'earlier content' };
const SECOND_DOCUMENT = kept({ generation: -1, state: 'accepted', serviceId: 'inv_2', settledAt: null, reason: null });

/** Generations and documents beside the present one. */
const HISTORIES: Readonly<Record<string, Part>> = {
  'after a failed one': second(kept()),
  'with the key of a failed one': { ...second(kept()), idempotencyKey: 'key-1' },
  'after an issued one': second(kept({ state: 'issued', reason: null })),
  'after one of which issued is said': second(kept({ said: SAID.issued })),
  'with the key of one of which issued is said': { ...second(kept({ said: SAID.issued })), idempotencyKey: 'key-1' },
  'after other content, of which issued is said': second(kept({ ...OTHER_CONTENT, said: SAID['failed, then issued'] })),
  'after content that was never sent': second(
    kept({ ...OTHER_CONTENT, state: 'held', serviceId: null, attempts: 0, firstSentAt: null, settledAt: null }),
  ),
  'after two that failed': third(kept(), kept({ generation: 2, idempotencyKey: 'key-2', serviceId: 'inv_3' })),
  'after one that failed and one that was never sent': third(
    kept(),
    kept({ generation: 2, idempotencyKey: 'key-2', state: 'rejected', serviceId: null, firstSentAt: null }),
  ),
  'after other and the same content, of both issued is said': third(
    kept({ ...OTHER_CONTENT, said: SAID.issued }),
    kept({ generation: 2, idempotencyKey: 'key-2', serviceId: 'inv_3', said: SAID.issued }),
  ),
  'after the same and other content, of both issued is said': third(
    kept({ said: SAID.issued }),
    kept({ ...OTHER_CONTENT, generation: 2, idempotencyKey: 'key-2', serviceId: 'inv_3', said: SAID.issued }),
  ),
  'doubtful, issued earlier, after a failed one': {
    ...second(kept()),
    ...flags('older-ledger', 'issued-in-earlier-generation'),
  },
  'with the key of a failed one, second id': { ...second(kept()), ...SECOND, idempotencyKey: 'key-1' },
  'with the key of a failed one, closed': { ...second(kept()), ...CLOSED, idempotencyKey: 'key-1' },
  'of another batch, after a failed one': { ...second(kept()), ...OTHER_OWNER },
  'beside a second document': { ...SECOND, kept: [SECOND_DOCUMENT] },
  'beside a second document that failed': { ...SECOND, kept: [{ ...SECOND_DOCUMENT, state: 'failed' }] },
  'beside a second document, issued is said of it': { ...SECOND, kept: [{ ...SECOND_DOCUMENT, said: SAID.issued }] },
  'beside two documents that are issued': {
    ...RISEN,
    generation: 2,
    idempotencyKey: 'key-2',
    kept: [kept({ state: 'issued' }), kept({ generation: -1, state: 'issued', serviceId: 'inv_2', settledAt: FUTURE })],
  },
};

const STATES: Readonly<Record<string, Part>> = {
  staged: { state: 'staged', ...UNSENT },
  'never POSTed': { ...UNSENT, frozenAt: RECENT },
  sending: {},
  'sending, may exist': { exposure: 'lost' },
  accepted: { state: 'accepted', serviceId: 'inv_1', acceptedAt: RECENT },
  issued: { state: 'issued', serviceId: 'inv_1', acceptedAt: LONG_AGO, settledAt: RECENT },
  failed: { state: 'failed', serviceId: 'inv_1', acceptedAt: LONG_AGO, settledAt: RECENT, reason: WHY },
  rejected: { state: 'rejected', settledAt: null, reason: WHY },
  unknown: { state: 'unknown', exposure: 'lost', reason: WHY },
  unsettled: { state: 'unsettled', serviceId: 'inv_1', acceptedAt: LONG_AGO, reason: WHY },
  held: { state: 'held', ...UNSENT, reason: WHY },
};

/** What a state may have in addition. */
const VARIANTS: Readonly<Record<string, Part>> = {
  plain: {},
  'of another batch': OTHER_OWNER,
  'of a closed batch': CLOSED,
  'of its own closed batch': { ownerIsClosed: true },
  doubtful: DOUBTFUL,
  'doubtful, of a closed batch': { ...DOUBTFUL, ...CLOSED },
  'issued earlier': RISEN,
  'with two flags': flags('older-ledger', 'second-service-id'),
  'shared id': flags('shared-service-id'),
  'unconfirmed failure': flags('failure-unconfirmed'),
  'issued after failed': flags('issued-after-failed'),
  'with a reason': reason('some-reason'),
  ...HISTORIES,
};

/** `besides`: what an invoice has beside its state. */
const INVOICES = new Map<{ readonly state: string; readonly besides: string }, Invoice>();

function add(state: string, besides: string, ...parts: readonly Part[]): void {
  INVOICES.set({ state, besides }, Object.assign({}, SENDING, STATES[state], ...parts) as Invoice);
}

for (const state of Object.keys(STATES)) {
  for (const [variant, more] of Object.entries(VARIANTS)) add(state, variant, more);
  for (const [name, frozenAt] of Object.entries(TIMES)) add(state, `closed, frozen ${name}`, CLOSED, { frozenAt });
}
for (const state of ['accepted', 'issued', 'failed', 'unsettled'])
  for (const [words, value] of Object.entries(SAID)) {
    add(state, `said ${words}`, { said: value });
    add(state, `issued after failed, said ${words}`, { said: value }, flags('issued-after-failed'));
  }
for (const [name, at] of Object.entries(TIMES)) {
  add('accepted', `accepted ${name}`, { acceptedAt: at });
  add('sending', `closed, changed ${name}`, CLOSED, { changedAt: at });
  add('sending', `closed, frozen ${name}, changed long ago`, CLOSED, { frozenAt: at, changedAt: LONG_AGO });
}
for (const code of ['key-known-with-other-bytes', 'stored-error', 'retention-window-over'])
  for (const [name, frozenAt] of Object.entries(TIMES))
    add('unknown', `closed, ${code}, frozen ${name}`, CLOSED, reason(code), { frozenAt });
for (const state of ['held', 'unknown'])
  for (const code of ['merchant-details-missing', 'accepted-in-earlier-generation']) add(state, code, reason(code));
add('sending', 'no POST is known', { exposure: 'lost', firstSentAt: null, attempts: 0 });
add('unknown', 'without a reason', { reason: null });
add('sending', 'closed, not frozen, changed long ago', CLOSED, { frozenAt: null, changedAt: LONG_AGO });
add('unknown', 'closed, not frozen', CLOSED, { frozenAt: null });
add('held', 'without a reason', { reason: null });
add('accepted', 'without a time', { acceptedAt: null });

const OF_OWN = { batchId: 'own' };
const BECAUSE = { reason: WHY, now: NOW };
const keyOf = (generation: number) => `key-${generation}`;

const POLICY: RetryPolicy = {
  maxGenerations: 2,
  retentionMs: RETENTION_MS,
  rejectionIsProof: true,
  acceptDuplicateRisk: false,
  now: NOW,
};

function retry(policy: Partial<RetryPolicy> = {}, totalUnconfirmed = false): Command {
  return { kind: 'retry', ...OF_OWN, policy: { ...POLICY, ...policy }, totalUnconfirmed, keyOf };
}

function stage(over: Partial<Extract<Command, { kind: 'stage' }>> = {}): Command {
  return {
    ...{ kind: 'stage', batchId: 'own', fingerprint: 'other content', isStaged: false, isAwaited: false },
    ...{ keepsRejected: false, riskAccepted: false, retentionMs: RETENTION_MS, wasLost: false, continuedKey: null },
    ...{ keyOf: (generation: number) => `new-key-${generation}`, now: NOW, ...over },
  };
}

function answer(outcome: Answer['outcome'], over: Partial<Answer> = {}): Command {
  const given = { generation: 1, attempts: 1, sentAt: LONG_AGO, answeredAt: NOW, takenAt: null };
  return { kind: 'record', answer: { ...given, idIsTaken: false, sharesId: false, outcome, ...over } };
}

function get(status: Status['status'], over: Partial<Status> = {}): Command {
  return { kind: 'hear', statuses: [{ serviceId: 'inv_1', status, reason: null, now: NOW, ...over }] };
}

const ACCEPTED = { kind: 'accepted', serviceId: 'inv_1' } as const;
const ANOTHER = { kind: 'accepted', serviceId: 'inv_9' } as const;
const REJECTED = { kind: 'rejected', reason: UNANSWERED } as const;

const COMMANDS: Readonly<Record<Command['kind'], Readonly<Record<string, Command>>>> = {
  hold: {
    'what was never handed out': { kind: 'hold', ...OF_OWN, ...BECAUSE, unanswered: null, andHeld: false },
    'what was not answered too': { kind: 'hold', ...OF_OWN, ...BECAUSE, unanswered: UNANSWERED, andHeld: false },
    'what is held too': { kind: 'hold', ...OF_OWN, ...BECAUSE, unanswered: null, andHeld: true },
  },
  close: { 'a page': { kind: 'close', ...OF_OWN, ...BECAUSE, unsent: UNANSWERED } },
  expire: { 'before recently': { kind: 'expire', ...BECAUSE, acceptedBefore: RECENT } },
  release: { 'a batch': { kind: 'release', ...OF_OWN, now: NOW } },
  repeat: { 'inside the window': { kind: 'repeat', ...OF_OWN, frozenAfter: LONG_AGO } },
  take: { 'for reconciliation': { kind: 'take', staleBefore: RECENT, frozenAfter: LONG_AGO, now: NOW } },
  freeze: {
    'for a POST': { kind: 'freeze', ...OF_OWN, generation: 1, mayExist: false, now: NOW },
    'of which a POST may exist': { kind: 'freeze', ...OF_OWN, generation: 2, mayExist: true, now: NOW },
  },
  unfreeze: {
    'the first generation': { kind: 'unfreeze', ...OF_OWN, ...BECAUSE, generation: 1 },
    'an attempt with an earlier key': {
      kind: 'unfreeze',
      ...OF_OWN,
      ...BECAUSE,
      generation: 2,
      idempotencyKey: 'key-1',
    },
  },
  'hand-out': { 'what was left sending': { kind: 'hand-out', ...OF_OWN } },
  'give-up': { 'after the window': { kind: 'give-up', ...BECAUSE, staleBefore: RECENT, frozenUntil: LONG_AGO } },
  'end-repeats': {
    'after the window': {
      ...{ kind: 'end-repeats', now: NOW, frozenUntil: LONG_AGO, messageAhead: 'clock ran ahead' },
      reason: { code: 'retention-window-over', message: 'the window is over' },
    },
  },
  'sent-without': {
    'with the first key': { kind: 'sent-without', ...BECAUSE, idempotencyKey: 'key-1' },
    'with another key': { kind: 'sent-without', ...BECAUSE, idempotencyKey: 'key-of-then' },
  },
  doubt: { 'a batch': { kind: 'doubt', ...OF_OWN, ...BECAUSE } },
  retry: {
    'by an operator': retry(),
    'by the retry policy': retry({ unattended: true, maxGenerations: 3 }),
    'at the risk of a duplicate': retry({ acceptDuplicateRisk: true, maxGenerations: 3 }),
    'where a refusal is no proof': retry({ rejectionIsProof: false }),
    'before the total is confirmed': retry({}, true),
  },
  stage: {
    'the same content': stage({ fingerprint: 'content' }),
    'other content': stage(),
    'other content at the risk of a duplicate': stage({ riskAccepted: true }),
    'other content where a refusal is no proof': stage({ keepsRejected: true }),
    'other content that was lost': stage({ wasLost: true }),
    'other content with the key that it was sent with': stage({ continuedKey: 'key-of-then', wasLost: true }),
    'other content that is staged again': stage({ isStaged: true }),
    'other content while a batch waits for the earlier one': stage({ isAwaited: true }),
  },
  'pass-on': {
    'to a batch that stages': { kind: 'pass-on', ...OF_OWN, heir: 'other', reason: null },
    'to a batch that has staged': { kind: 'pass-on', ...OF_OWN, heir: 'other', reason: WHY },
    'to itself': { kind: 'pass-on', ...OF_OWN, heir: 'own', reason: WHY },
  },
  restore: {
    'the first generation': { kind: 'restore', ...OF_OWN, generation: 1, heir: 'other' },
    'the present generation': { kind: 'restore', ...OF_OWN, generation: 2, heir: 'other' },
  },
  record: {
    accepted: answer(ACCEPTED),
    'accepted, the second generation': answer(ACCEPTED, { generation: 2 }),
    'accepted with another id': answer(ANOTHER),
    'accepted with another id, the second generation': answer(ANOTHER, { generation: 2, attempts: 2 }),
    'accepted with the id of a kept document': answer({ kind: 'accepted', serviceId: 'inv_0' }, { generation: 2 }),
    'accepted with the id of another invoice': answer(ANOTHER, { idIsTaken: true }),
    'accepted, another invoice has its id': answer(ACCEPTED, { sharesId: true }),
    rejected: answer(REJECTED),
    'rejected, the second generation': answer(REJECTED, { generation: 2 }),
    'rejected, with an earlier key': answer(REJECTED, { generation: 2, idempotencyKey: 'key-1' }),
    'rejected without a POST': answer(REJECTED, { attempts: 0 }),
    'rejected, proven': answer({ ...REJECTED, proven: true }),
    'rejected, proven, taken since': answer({ ...REJECTED, proven: true }, { takenAt: LONG_AGO }),
    'rejected, proven, not taken since': answer({ ...REJECTED, proven: true }, { takenAt: RECENT }),
    'rejected, another invoice has its id': answer(REJECTED, { sharesId: true }),
    unknown: answer({ kind: 'unknown', reason: UNANSWERED }),
    held: answer({ kind: 'held', reason: UNANSWERED }),
    'pending, may exist': answer({ kind: 'pending', reason: UNANSWERED, mayExist: true }),
    'pending, nothing arrived': answer({ kind: 'pending', reason: UNANSWERED, mayExist: false }),
  },
  hear: {
    'stored events': { kind: 'hear', statuses: [] },
    'GET: issued': get('issued'),
    'GET: failed': get('failed', { reason: UNANSWERED }),
    'GET: failed without a reason, as planned': get('failed', { asks: 7, unconfirmed: true }),
    'GET: processing': get('processing', { asks: 1 }),
    'GET: unreadable': get('unreadable'),
    'GET of an earlier document: issued': get('issued', { serviceId: 'inv_0' }),
    'GET of a second document: issued': get('issued', { serviceId: 'inv_2' }),
    'GET of an earlier document: failed': get('failed', { serviceId: 'inv_0' }),
    'GET of a second document: failed': get('failed', { serviceId: 'inv_2' }),
  },
  share: { 'an id': { kind: 'share' } },
  'next-key': {
    'after an old answer': nextKey(false),
    'after the document of the earlier key': nextKey(true),
  },
};

function nextKey(isProven: boolean): Command {
  return { kind: 'next-key', generation: 2, idempotencyKey: 'key-2', attempts: 3, isProven, now: NOW };
}

/** The message of each reason that came up, by its code. */
const messages = new Map<string, string>();

function shown(value: unknown): string {
  if (isReason(value)) {
    messages.set(value.code, value.message);
    return value.code;
  }
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'number' ? timeName(one) : one));
}

function isReason(value: unknown): value is Reason {
  return typeof value === 'object' && value !== null && 'code' in value;
}

/** The ledger reads these, and writes nothing of them with the invoice. */
const SURROUNDINGS = ['frozenAt', 'ownerIsClosed', 'kept', 'said'];

/** The fields that differ, each with its new value; of flags those that come and go. */
function changes(before: object, after: object): string {
  const old = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([field, value]) => !SURROUNDINGS.includes(field) && shown(old.get(field)) !== shown(value),
  );
  return changed.map(([field, value]) => change(field, old.get(field), value)).join(', ');
}

function change(field: string, before: unknown, after: unknown): string {
  if (Array.isArray(before) && Array.isArray(after)) {
    const gone = before.filter((one) => !after.includes(one)).map((one) => `-${one}`);
    return [...gone, ...after.filter((one) => !before.includes(one)).map((one) => `+${one}`)].join(' ');
  }
  return `${field} ${shown(after)}`;
}

function result(invoice: Invoice, command: Command): string {
  const decided = decide(invoice, command);
  const attachment = decided.attachment ?? '';
  if ('refusal' in decided) return decided.refusal === 'not-now' ? attachment : `refused: ${decided.refusal}`;
  const parts = [decided.move ?? attachment, changes(invoice, decided.invoice), ...keptNow(invoice, decided)];
  if (decided.effects !== undefined && decided.effects.length > 0) parts.push(decided.effects.join(' and '));
  return parts.filter((part) => part !== '').join('; ') || 'nothing changes';
}

function keptNow(before: Invoice, { kept = [] }: Decided): readonly string[] {
  return kept.map((one) => {
    const known = before.kept.find(({ generation }) => generation === one.generation);
    return `keeps ${one.generation}: ${changes(known ?? before, one)}`;
  });
}

/** The results of one command, each with the invoices that get it: a state, and what an invoice has beside it. */
function section(name: string, command: Command): string {
  const byResult = new Map<string, Map<string, string[]>>();
  for (const [{ state, besides }, invoice] of INVOICES) {
    const text = result(invoice, command);
    if (text === '') continue;
    const states = byResult.get(text) ?? new Map<string, string[]>();
    byResult.set(text, states.set(state, [...(states.get(state) ?? []), besides]));
  }
  const rows = [...byResult].map(([text, states]) => `  ${text}\n${[...states].map(invoicesOf).join('')}`);
  return `${name}\n${rows.join('')}`;
}

function invoicesOf([state, besides]: readonly [string, readonly string[]]): string {
  return `    ${state}: ${besides.join('; ')}\n`;
}

describe('the table of decisions', () => {
  it.each(Object.keys(COMMANDS) as Command['kind'][])('is as reviewed for %s', async (kind) => {
    messages.clear();
    const sections = Object.entries(COMMANDS[kind]).map(([name, command]) => section(`${kind} ${name}`, command));
    const reasons = [...messages].filter(([code, message]) => code !== message);
    if (reasons.length > 0) sections.push(reasons.map(([code, message]) => `${code}: ${message}\n`).join(''));
    await expect(sections.join('\n')).toMatchFileSnapshot(`../../../golden/machine/${kind}.txt`);
  });
});
