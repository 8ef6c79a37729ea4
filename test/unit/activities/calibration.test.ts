import { describe, expect, it } from 'vitest';
import {
  blankCalibration,
  CALIBRATION_INVOICES,
  isOpen,
  takePlaces,
  type CalibrationInvoice,
  type CalibrationState,
  misfitsOf,
  takeFinding,
} from '../../../src/domain/calibration-state.ts';
import {
  observePost,
  observeStatus,
  openIfProved,
  type AskedStatus,
  type CalibrationRules,
} from '../../../src/domain/calibration.ts';
import { Calibration, type CalibrationDeps } from '../../../activities/calibration.ts';
import type { CreateAnswer } from '../../../src/domain/records/service-answers.ts';

const RULES: CalibrationRules = {
  ...{ issued: ['issued'], failed: ['failed'], expectsEvents: true },
  ...{ noEventsMs: 30_000, secondLookMs: 15_000, earlyLookMs: 450_000 },
};
const ISSUED_EVENT = { verdict: 'issued', type: 'invoice.issued' } as const;
const FAILED_EVENT = { verdict: 'failed', hasReason: true } as const;

/** A calibration at which things happen. */
function calibration(over: Partial<CalibrationRules> = {}) {
  const rules = { ...RULES, ...over };
  const state = { ...blankCalibration(), began: 0 };
  const statusOf = (word: string) =>
    rules.issued.includes(word) ? 'issued' : rules.failed.includes(word) ? 'failed' : 'processing';
  return {
    state,
    post: (answer: CreateAnswer, key = 'key') => observePost(state, { answer, key, at: 0 }),
    created: (word: string, key = 'key') =>
      observePost(state, { answer: { kind: 'created', serviceId: 'x', word }, key, at: 0 }),
    get(
      word: string,
      { id = 'inv_1', at = 0, reported = null as AskedStatus['reported'], why = null as 'code' | null } = {},
    ) {
      const seen = { word, place: '/status', why };
      const answer = { kind: 'status', status: statusOf(word), reason: null, seen } as const;
      return observeStatus(state, { serviceId: id, answer, reported, at }, rules);
    },
    isOpenAt(at: number, known: readonly CalibrationInvoice[] = []) {
      openIfProved(state, { known, at }, rules);
      return isOpen(state);
    },
    codes: () => state.found.map(({ code }) => code),
  };
}

const misread = (code: string): CreateAnswer => ({ kind: 'lost', reason: { code, message: code }, retryAfterMs: null });
const unreadError: CreateAnswer = {
  ...misread('http-422-unreadable'),
  kind: 'lost',
  unreadError: true,
} as CreateAnswer;

describe('the gate of a calibration', () => {
  it('opens when an event and a GET agree on issued, and a GET alone is not believed before', () => {
    const { get, isOpenAt } = calibration();

    expect(get('issued')).toBe(false);
    expect(isOpenAt(0)).toBe(false);
    expect(get('issued', { reported: ISSUED_EVENT })).toBe(true);
    expect(isOpenAt(0)).toBe(true);
    expect(get('issued', { id: 'inv_2' })).toBe(true);
  });

  it('stays closed while an invoice that is out has no answer yet', () => {
    const { get, isOpenAt, state } = calibration();
    const place = { batchId: 'b', ordinal: 1 };
    const sent = { ...place, invoiceId: 1, state: 'sending', attempts: 0, serviceId: null, failedEvent: null } as const;
    state.out = [{ ...place, at: 0 }];
    get('issued', { reported: ISSUED_EVENT });

    expect(isOpenAt(0, [sent])).toBe(false);
    expect(isOpenAt(0, [{ ...sent, state: 'staged' }]), 'put back by a slice whose time was over').toBe(false);
    expect(isOpenAt(0, []), 'taken after what is known was read').toBe(false);
    expect(isOpenAt(600_000, [sent]), 'of a process that ended').toBe(false);
    expect(isOpenAt(0, [{ ...sent, state: 'accepted', attempts: 1 }])).toBe(true);
  });

  it('opens by GET alone when no delivery comes for long, and not when deliveries come that do not fit', () => {
    const silent = calibration();
    silent.get('issued');
    expect(silent.get('issued', { at: 15_000 })).toBe(true);
    expect(silent.isOpenAt(29_999)).toBe(false);
    expect(silent.isOpenAt(30_000)).toBe(true);

    const refused = calibration();
    refused.state.found = [{ code: 'deliveries-refused', message: '', times: 1, firstAt: 0, lastAt: 0 }];
    refused.get('issued');
    refused.get('issued', { at: 15_000 });
    expect(refused.isOpenAt(60_000)).toBe(false);
  });

  it('lets what receivers find count under a proved profile, too, until it is over', () => {
    const { state, get, isOpenAt } = calibration({ expectsEvents: false });
    state.opened = 1;
    takeFinding(state, { code: 'events-unknown', message: 'other types' }, 2);
    takeFinding(state, { code: 'deliveries-refused', message: 'a wrong secret' }, 2);

    expect(get('issued')).toBe(false);
    expect(isOpenAt(3)).toBe(true);
    expect(misfitsOf(state).map(({ code }) => code)).toEqual(['deliveries-refused']);
    takeFinding(state, { code: 'deliveries-refused', message: null }, 4);
    expect(misfitsOf(state)).toEqual([]);
  });

  it('believes a word without events at once after progress, and the first word of a service late', () => {
    const progress = calibration({ expectsEvents: false });
    progress.created('processing');
    expect(progress.get('issued')).toBe(true);
    expect(progress.isOpenAt(0)).toBe(true);

    const atOnce = calibration({ expectsEvents: false });
    atOnce.created('issued');
    expect(atOnce.get('issued')).toBe(false);
    expect(atOnce.get('issued', { at: 15_000 })).toBe(false);
    expect(atOnce.get('issued', { at: 450_000 })).toBe(true);
  });

  it('lets no number of failures open it, and proves the word for failed once it is open', () => {
    const { get, isOpenAt } = calibration();
    for (const id of ['inv_1', 'inv_2', 'inv_3']) expect(get('failed', { id, reported: FAILED_EVENT })).toBe(true);
    expect(isOpenAt(0)).toBe(false);

    const bare = calibration();
    bare.get('issued', { reported: ISSUED_EVENT });
    expect(bare.get('failed', { id: 'inv_2', reported: { verdict: 'failed' } })).toBe(true);
  });
});

describe('the places of a calibration', () => {
  const wanted = Array.from({ length: 50 }, (_, at) => ({ batchId: 'b', ordinal: at + 1 }));
  const known = (state: CalibrationInvoice['state'], count = CALIBRATION_INVOICES): CalibrationInvoice[] =>
    wanted
      .slice(0, count)
      .map((place, at) => ({ ...place, ...{ invoiceId: at, state, attempts: 1, serviceId: null, failedEvent: null } }));

  it('are twenty, and an invoice keeps its own', () => {
    const { state } = calibration();

    expect(takePlaces(state, { wanted, known: [], at: 0 })).toEqual(wanted.slice(0, 20));
    expect(takePlaces(state, { wanted, known: known('sending'), at: 1 })).toEqual(wanted.slice(0, 20));
    expect(takePlaces(state, { wanted: wanted.slice(20), known: known('accepted'), at: 1 })).toEqual([]);
  });

  it('are kept for what was put back and is asked for again, and free where nothing asks any more', () => {
    const { state } = calibration();
    takePlaces(state, { wanted, known: [], at: 0 });
    const rest = wanted.slice(20);

    expect(takePlaces(state, { wanted, known: known('staged'), at: 121_000 })).toEqual(wanted.slice(0, 20));
    expect(takePlaces(state, { wanted: rest, known: known('staged'), at: 240_000 })).toEqual([]);
    expect(takePlaces(state, { wanted: rest, known: known('staged', 10), at: 242_000 })).toHaveLength(20);
  });

  it('are free again when nothing was sent, or when all that are out were refused or failed', () => {
    const { state } = calibration();
    takePlaces(state, { wanted, known: [], at: 0 });
    const rest = wanted.slice(20);

    expect(takePlaces(state, { wanted: rest, known: known('rejected', 19), at: 1 })).toEqual([]);
    expect(takePlaces(state, { wanted: rest, known: known('held', 5), at: 1 })).toHaveLength(5);
    const all = [...known('rejected'), ...rest.slice(0, 5).map((place) => ({ ...known('failed', 1)[0], ...place }))];
    expect(takePlaces(state, { wanted: wanted.slice(25), known: all as CalibrationInvoice[], at: 1 })).toHaveLength(20);
  });
});

describe('what stops a calibration', () => {
  it.each([
    ['answers-unreadable', [misread('answer-without-id')]],
    ['answers-unreadable', [unreadError]],
  ] as const)('is %s for five invoices, or for three answers to one of them', (code, [answer]) => {
    const many = calibration();
    for (const key of ['a', 'b', 'c', 'd']) many.post(answer, key);
    expect(many.state.stop).toBeNull();
    many.post(answer, 'e');
    expect(many.state.stop?.code).toBe(code);

    const one = calibration();
    for (let times = 0; times < 3; times += 1) one.post(answer, 'a');
    expect(one.state.stop?.code).toBe(code);
  });

  it('is forgotten when a repeat of the same key is read', () => {
    const { post, created, codes } = calibration();
    post(misread('answer-without-id'), 'a');
    expect(codes()).toEqual(['answers-unreadable']);

    created('processing', 'a');

    expect(codes()).toEqual([]);
  });

  it('is the opposite of two events in the answers, and nothing counts then', () => {
    const { get, state } = calibration();

    expect(get('failed', { reported: ISSUED_EVENT, why: 'code' })).toBe(false);
    expect(state.stop).toBeNull();
    expect(get('issued', { id: 'inv_2', reported: FAILED_EVENT })).toBe(false);

    expect(state.stop?.code).toBe('profile-contradiction');
    expect(get('issued', { id: 'inv_3', reported: ISSUED_EVENT })).toBe(false);
  });

  it('is a reason at an invoice that is called issued, and none at three that are called failed', () => {
    const issued = calibration();
    expect(issued.get('issued', { reported: ISSUED_EVENT, why: 'code' })).toBe(false);
    expect(issued.state.stop?.code).toBe('profile-contradiction');

    const failed = calibration();
    for (const id of ['a', 'b', 'c']) expect(failed.get('failed', { id, reported: { verdict: 'failed' } })).toBe(false);
    expect(failed.state.stop?.code).toBe('profile-contradiction');
  });

  it('holds the gate closed when a final word becomes another one', () => {
    const { created, get, isOpenAt, codes } = calibration({ issued: ['issued', 'processing'] });
    created('processing');

    get('issued', { reported: ISSUED_EVENT });

    expect(isOpenAt(0)).toBe(false);
    expect(codes()).toEqual(['issued-word-early']);
  });

  it('is nothing any more once an operator has confirmed the profile', () => {
    const { get, state, isOpenAt } = calibration();
    for (const id of ['a', 'b']) get('failed', { id, reported: ISSUED_EVENT, why: 'code' });

    state.trusted = true;

    expect(get('issued')).toBe(true);
    expect(isOpenAt(0)).toBe(true);
  });
});

/** A ledger of one batch, of which these invoices have a place, and all ordinals from 1 to 2,000 are unsent that have none. */
function calibrationWith(places: readonly Pick<CalibrationInvoice, 'ordinal' | 'state'>[]) {
  const batchId = 'b';
  const out = places.map(({ ordinal }) => ({ batchId, ordinal, at: 0 }));
  let state: CalibrationState = { ...blankCalibration(), began: 0, out };
  const ledger: Partial<CalibrationDeps['ledger']> = {
    calibration: async () => structuredClone(state),
    async calibrate(_digest, change) {
      state = structuredClone(state);
      change(state);
      return state;
    },
    calibrationInvoices: async () =>
      places.map((one) => ({ ...one, batchId, invoiceId: 1, attempts: 0, serviceId: null, failedEvent: null })),
    firstUnsent: async (_batchId, { limit, from = 1 }) =>
      Array.from({ length: limit }, (_, at) => ({ ordinal: from + at, merchantNif: '501234560' })),
  };
  return new Calibration({
    ...({ ledger, service: {}, log: {} } as unknown as Pick<CalibrationDeps, 'ledger' | 'service' | 'log'>),
    ...{ profileDigest: 'digest', now: () => 1_000 },
    rules: RULES,
  });
}

describe('the places of a slice', () => {
  it('are those that its invoices have and were not sent for, wherever they stand, and others while there is room', async () => {
    const places = Array.from({ length: 20 }, (_, at) => ({
      ordinal: 991 + at,
      state: at < 18 ? ('accepted' as const) : ('sending' as const),
    }));

    expect(await calibrationWith(places).places({ batchId: 'b', from: 1, to: 2_000 })).toEqual({
      ...{ ordinals: [1_009, 1_010], hasMore: true },
    });
    expect(await calibrationWith(places).places({ batchId: 'b', from: 1, to: 900 })).toEqual({
      ...{ ordinals: [], hasMore: true },
    });
    expect(await calibrationWith(places.slice(1)).places({ batchId: 'b', from: 1, to: 2_000 })).toEqual({
      ...{ ordinals: [1_009, 1_010, 1], hasMore: true },
    });
  });
});
