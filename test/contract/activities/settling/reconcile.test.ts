import { recordDeliveries } from '../../ledger/scenario.ts';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SendingPermission } from '../../../../activities/sending/sending-permission.ts';
import { sendAgain } from '../../../../activities/batch/retry.ts';
import { closePage } from '../../../../activities/settling/settle.ts';
import { pollOpenDocuments, outdatedReports, repeatUnknown } from '../../../../activities/settling/reconcile.ts';
import { PROFILE_CONTRADICTION, SERVICE_IDS_REPEATED } from '../../../../src/domain/calibration-state.ts';
import { createInvoicingService, type InvoicingService } from '../../../../src/service/client.ts';
import { localRate } from '../../../../src/service/limits/rate-limiter.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { accepted, delivery, NOW, REASON, serviceIdOf, type TestBatch } from '../../../contract/ledger/scenario.ts';
import {
  activityPlaces,
  asActivity,
  RETRY,
  runsThatAre,
  sentBatch,
  texts,
  type ActivityPlace,
} from '../activity-place.ts';
import { scriptedServer, sendJson } from '../../../unit/service/scripted-server.ts';
import type { CreateAnswer, StatusAnswer } from '../../../../src/domain/records/service-answers.ts';
import type { SendOutcome } from '../../../../src/ledger/sending/record-answers.ts';

const placeOf = activityPlaces();
const LOST = { code: 'reset', message: 'no answer came' };
const SAID = { code: 'said', message: 'HTTP 422: said' };

/** A service that answers POSTs in turn, the last answer for all that come after. */
function answering(...answers: readonly CreateAnswer[]) {
  const posts: { body: string; key: string }[] = [];
  const service: Partial<InvoicingService> = {
    createInvoice(body, key) {
      posts.push({ body, key });
      const answer = answers[Math.min(posts.length, answers.length) - 1];
      return answer === undefined ? Promise.reject(new Error('no answer')) : Promise.resolve(answer);
    },
  };
  return { posts, service };
}

/** Closes it, as a report that said where each of its invoices stands leaves it: reconciliation looks at nothing else. */
async function reported(place: ActivityPlace, batch: TestBatch): Promise<TestBatch> {
  await batch.finish();
  await noteReport(place, batch);
  return batch;
}

/** What writing a report of a batch that has just ended leaves behind. */
async function noteReport({ deps }: ActivityPlace, batch: TestBatch): Promise<void> {
  const writtenAt = (await batch.record()).finishedAt ?? NOW;
  const revision = await deps.ledger.nextRevision(batch.batchId);
  await batch.report({ revision, writtenAt, open: await batch.lines() });
}

/** A closed batch of which `count` invoices are unknown. */
async function unknownOnes(place: ActivityPlace, count: number, reason = LOST): Promise<TestBatch> {
  const lostOne: SendOutcome = { kind: 'unknown', reason };
  const batch = await sentBatch(
    place,
    Array.from({ length: count }, () => lostOne),
  );
  return reported(place, batch);
}

function repeatAll({ deps }: ActivityPlace) {
  return asActivity(repeatUnknown, deps, { all: true });
}

function pollAll({ deps }: ActivityPlace) {
  return asActivity(pollOpenDocuments, deps, { all: true });
}

function lost(): CreateAnswer {
  return { kind: 'lost', reason: { code: 'http-503', message: 'HTTP 503' }, retryAfterMs: null };
}

describe('unknown invoices', () => {
  it('are repeated with their own key and bytes; an id is the word that was lost', async () => {
    const { posts, service } = answering({ kind: 'created', serviceId: 'inv_repeat_1' });
    const place = placeOf({ service });
    const batch = await unknownOnes(place, 1);
    const { idempotencyKey } = await batch.line('R0');

    expect(await repeatAll(place)).toEqual({
      ...{ repeated: 1, found: 1, stopped: [], serviceAway: false },
    });
    expect(posts).toEqual([{ body: '{"ref":"R0"}', key: idempotencyKey }]);
    expect(await batch.line('R0')).toMatchObject({ state: 'accepted', serviceId: 'inv_repeat_1', attempts: 2 });
  });

  it('of a later generation do not leave once an earlier document is issued, though they were taken before', async () => {
    const left: string[] = [];
    const turn = new EventEmitter();
    const service: Partial<InvoicingService> = {
      async createInvoice(_body, key, limits) {
        const hasTurn = once(turn, 'turn');
        turn.emit('waiting');
        await hasTurn;
        // As the client asks in the moment before the first byte.
        if (limits?.permit?.isValid() === false && !(await limits.permit.confirm())) return { kind: 'not-permitted' };
        left.push(key);
        return { kind: 'created', serviceId: 'inv_second_document' };
      },
    };
    const place = placeOf({ service });
    const { ledger } = place.deps;
    const batch = await place.scenario.run([{ ref: 'R0' }], 1_000);
    const serviceId = serviceIdOf(place.scenario, 'R0');
    const { invoiceId } = await batch.one('R0');
    await batch.send('R0', accepted(serviceId));
    await ledger.recordStatus([{ invoiceId, serviceId, status: 'failed', reason: REASON, now: NOW }]);
    await sendAgain(place.deps, {
      ...{ ledgerId: ledger.id, batchId: batch.batchId, actionId: `${batch.batchId}/round-1` },
      ...{ requests: [{ states: ['failed'], reason: 'the engine is back' }], automatic: false },
    });
    await batch.send('R0', { kind: 'unknown', reason: LOST });
    await reported(place, batch);

    const isWaiting = once(turn, 'waiting');
    const repeating = repeatAll(place);
    await isWaiting;
    await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
    turn.emit('turn');

    expect(await repeating).toMatchObject({ repeated: 0, found: 0 });
    expect(left).toEqual([]);
    expect(await batch.line('R0')).toMatchObject({ state: 'issued', generation: 2, serviceId });
  });

  it.each<readonly [string, CreateAnswer, object]>([
    [
      'refused now',
      { kind: 'refused', reason: SAID },
      { code: 'refused-after-lost-answer', message: expect.stringContaining(SAID.message) as string },
    ],
    ['known with other bytes', { kind: 'key-mismatch', reason: SAID }, SAID],
    ['lost again', lost(), LOST],
    ['not now', { kind: 'not-now', reason: SAID, retryAfterMs: null }, LOST],
    ['denied access', { kind: 'access-denied', reason: SAID, retryAfterMs: null, mayExist: false }, LOST],
  ])('stay unknown when the answer is %s: it says nothing of the POST of then', async (_, answer, reason) => {
    const place = placeOf({ service: answering(answer).service });
    const batch = await unknownOnes(place, 1);

    expect(await repeatAll(place)).toMatchObject({ repeated: 1, found: 0 });
    expect(await batch.line('R0')).toMatchObject({ state: 'unknown', attempts: 2, reason });
  });

  it.each([
    ['is rejected', 60_000, true, 'rejected'],
    ['stays unknown, while an earlier POST may be on its way', 59_999, true, 'unknown'],
    ['stays unknown, unless the profile says that a refusal is a proof', 60_000, false, 'unknown'],
  ])('one that is refused now %s', async (_, later, refusedRepeatIsProof, state) => {
    const place = placeOf({
      service: answering({ kind: 'refused', reason: SAID }).service,
      settings: { retry: { ...RETRY, refusedRepeatIsProof } },
    });
    const batch = await unknownOnes(place, 1);
    place.later(later);

    await repeatAll(place);

    expect((await batch.line('R0')).state).toBe(state);
  });

  it('with an error that is kept under their keys do not keep the others from their turn', async () => {
    const error: CreateAnswer = { kind: 'lost', reason: { code: 'x', message: 'HTTP 500: x' }, retryAfterMs: null };
    const errors = Array.from({ length: 12 }, () => error);
    const { service } = answering(...errors, { kind: 'created', serviceId: `inv_turn_${randomUUID()}` });
    const place = placeOf({ service, settings: { maxConcurrency: 1 } });
    const batch = await unknownOnes(place, 13, { code: 'stored-error', message: 'HTTP 500' });

    expect(await repeatAll(place)).toMatchObject({ repeated: 13, found: 1, serviceAway: false });
    // Which of them comes last is the ledger's to choose.
    const codes = (await batch.lines()).flatMap(({ reason }) => reason?.code ?? []);
    expect(codes).toEqual(Array.from({ length: 12 }, () => 'stored-error'));
  });

  it.each([
    ['are left for the next time when ten in a row bring no answer', 10, true],
    ['are gone on with after nine without an answer and one with', 15, false],
  ])('%s', async (_, repeated, serviceAway) => {
    const nine = Array.from({ length: 9 }, lost);
    const answers: CreateAnswer[] = serviceAway ? [] : [...nine, { kind: 'refused', reason: SAID }];
    const place = placeOf({ service: answering(...answers, lost()).service, settings: { maxConcurrency: 1 } });
    const batch = await unknownOnes(place, repeated);

    expect(await repeatAll(place)).toMatchObject({ repeated, found: 0, serviceAway });
    expect((await batch.lines()).every(({ state }) => state === 'unknown')).toBe(true);
  });

  it('are all come to, however many there are', async () => {
    let at = 0;
    const place = placeOf({
      service: {
        createInvoice: () => Promise.resolve({ kind: 'created', serviceId: `inv_many_${(at += 1)}` }),
      },
    });
    await unknownOnes(place, 120);

    expect(await repeatAll(place)).toMatchObject({ repeated: 120, found: 120 });
  });

  it('are left to another attempt when the worker stops: those that wait for their turn do not leave', async () => {
    const env = new MockActivityEnvironment();
    const { posts, service } = answering({ kind: 'created', serviceId: 'inv_repeat_stop' });
    const withdrawn: (boolean | undefined)[] = [];
    const place = placeOf({
      settings: { maxConcurrency: 1 },
      service: {
        createInvoice(body, key, limits) {
          env.cancel();
          withdrawn.push(limits?.permit?.withdrawn.aborted);
          return service.createInvoice?.(body, key) ?? Promise.reject(new Error('no service'));
        },
      },
    });
    const batch = await unknownOnes(place, 2);

    const before = await batch.lines();
    place.later(1_000);
    await expect(env.run(repeatUnknown, place.deps, { all: true })).rejects.toMatchObject({
      ...{ type: 'worker-stops', nonRetryable: false },
    });

    expect(posts).toHaveLength(1);
    expect(withdrawn).toEqual([true]);
    const left = (await batch.lines()).filter(({ state }) => state !== 'accepted');
    expect(left).toEqual(before.filter(({ ref }) => ref === left[0]?.ref));

    const other = answering({ kind: 'created', serviceId: 'inv_repeat_stop_2' }).service;
    const deps = { ...place.deps, service: { ...place.deps.service, ...other } };
    expect(await asActivity(repeatUnknown, deps, { all: true })).toMatchObject({ repeated: 1, found: 1 });
  });

  it.each([
    { by: 'another process', at: 'elsewhere', found: 'words contradict each other', code: PROFILE_CONTRADICTION },
    { by: 'another process', at: 'elsewhere', found: 'several keys get one id', code: SERVICE_IDS_REPEATED },
    { by: 'this process', at: 'here', found: 'words contradict each other', code: PROFILE_CONTRADICTION },
  ] as const)('are not repeated from the moment on in which $by finds that $found', async ({ at, code }) => {
    let posts = 0;
    const withdrawn: (boolean | undefined)[] = [];
    const place = placeOf({
      settings: { maxConcurrency: 1 },
      service: {
        async createInvoice(_body, _key, limits) {
          posts += 1;
          await contradict();
          const signal = limits?.permit?.withdrawn;
          if (signal?.aborted === false) await once(signal, 'abort');
          withdrawn.push(signal?.aborted);
          return { kind: 'created', serviceId: serviceIdOf(place.scenario, `contradicted ${posts}`) };
        },
      },
    });
    const { deps } = place;
    async function contradict(): Promise<void> {
      const found = at === 'here' ? deps.calibration : place.elsewhere();
      await found.stop({ code, message: 'Correct the profile' });
      // For so long a process goes by what it has read.
      place.later(1_000);
    }
    const batch = await unknownOnes(place, 3);
    const before = await batch.lines();

    place.later(1_000);
    const repeat = () => asActivity(repeatUnknown, deps, { all: true });
    const stopped = { serviceAway: true, profileFoundWrong: true };
    expect(await repeat()).toMatchObject({ repeated: 1, found: 1, ...stopped });
    expect(await repeat(), 'nor in the next pass').toMatchObject({ repeated: 0, ...stopped });

    expect(posts).toBe(1);
    expect(withdrawn).toEqual([true]);
    const left = (await batch.lines()).filter(({ state }) => state !== 'accepted');
    expect(left).toEqual(before.filter(({ ref }) => left.some((line) => line.ref === ref)));
    expect(left).toHaveLength(2);
  });

  it('are not repeated where a clock that ran ahead wrote down when their bytes were frozen', async () => {
    const { posts, service } = answering(lost());
    const place = placeOf({ service });
    const batch = await unknownOnes(place, 1);
    place.later(-5 * 3_600_000);

    expect(await repeatAll(place)).toMatchObject({ repeated: 0 });
    expect(posts).toEqual([]);
    expect((await batch.line('R0')).state).toBe('unknown');
    expect((await batch.line('R0')).reason).toMatchObject({
      code: 'retention-window-over',
      message: expect.stringMatching(/^A clock that ran ahead .* accept the risk/u) as string,
    });
    const { application, ledger } = place.deps;
    expect(await ledger.outdatedReports(application)).toEqual([batch.batchId]);
    await noteReport(place, batch);
    await repeatAll(place);
    expect(await ledger.outdatedReports(application), 'once').toEqual([]);
  });

  it('are not repeated when the service may have forgotten their key by the time their turn has come', async () => {
    let posts = 0;
    const place = placeOf({
      settings: { maxConcurrency: 1 },
      service: {
        createInvoice() {
          posts += 1;
          place.later(60_000);
          return Promise.resolve(lost());
        },
      },
    });
    const batch = await unknownOnes(place, 4);
    place.later(86_400_000 - 90_000);

    expect(await repeatAll(place)).toMatchObject({ repeated: 2, serviceAway: false });
    expect(posts).toBe(2);
    const lines = (await batch.lines()).toSorted((one, other) => other.attempts - one.attempts);
    expect(lines.map(({ state, attempts, reason }) => [state, attempts, reason?.code])).toEqual([
      ...[1, 2].map(() => ['unknown', 2, 'reset']),
      ...[3, 4].map(() => ['unknown', 1, 'retention-window-over']),
    ]);
    expect(await place.deps.ledger.outdatedReports(place.scenario.application)).toEqual([batch.batchId]);
  });
});

describe('unknown invoices that wait beyond the retention window', () => {
  it.each([
    ['by the clock of the machine', 0, false],
    ['by the latest clock, though that of the machine was set back', RETRY.retentionMs, true],
  ])(
    'say so once where it ends %s, and their report is outdated until it is written again',
    async (_, aheadMs, all) => {
      const code = 'no-final-answer';
      const { posts, service } = answering(lost());
      const place = placeOf({ service });
      const { application, ledger, now } = place.deps;
      const deps = { ...place.deps, latestNow: () => now() + aheadMs };
      const repeat = () => asActivity(repeatUnknown, deps, { all });
      const batch = await unknownOnes(place, 1, { code, message: 'Reconciliation goes on asking.' });
      if (aheadMs === 0) {
        place.later(RETRY.retentionMs - 1);
        await repeat();
        expect((await batch.line('R0')).reason?.code, 'inside the window').toBe(code);
        posts.length = 0;
      }

      place.later(1);
      expect(await repeat()).toMatchObject({ repeated: 0 });

      expect(posts).toEqual([]);
      const { state, reason } = await batch.line('R0');
      expect([state, reason?.code]).toEqual(['unknown', 'retention-window-over']);
      expect(reason?.message).toMatch(
        /^Its first POST left more than 24 h ago.* Ask the service, or accept the risk: .*lote retry BATCH --ref /u,
      );
      expect(await ledger.outdatedReports(application)).toEqual([batch.batchId]);

      await noteReport(place, batch);
      await repeat();
      expect((await batch.line('R0')).reason).toEqual(reason);
      expect(await ledger.outdatedReports(application)).toEqual([]);
    },
  );

  it('are repeated when the clock that said so was wrong', async () => {
    const { posts, service } = answering({ kind: 'created', serviceId: 'inv_clock_was_wrong' });
    const place = placeOf({ service });
    const batch = await unknownOnes(place, 1);
    place.later(1_000 + RETRY.retentionMs);
    await asActivity(repeatUnknown, place.deps, { all: false });
    expect((await batch.line('R0')).reason?.code).toBe('retention-window-over');

    place.later(-RETRY.retentionMs);
    expect(await asActivity(repeatUnknown, place.deps, { all: false })).toMatchObject({ repeated: 1, found: 1 });

    expect(posts).toHaveLength(1);
    expect(await batch.line('R0')).toMatchObject({ state: 'accepted', reason: null });
  });

  it.each(['stored-error', 'refused-after-lost-answer', 'service-id-taken', 'key-known-with-other-bytes'])(
    'keep the reason %s, by which a retry gives them a new key',
    async (code) => {
      const place = placeOf();
      const batch = await unknownOnes(place, 1, { code, message: 'said' });
      place.later(RETRY.retentionMs);

      await asActivity(repeatUnknown, place.deps, { all: false });

      expect((await batch.line('R0')).reason).toEqual({ code, message: 'said' });
      expect(await place.deps.ledger.outdatedReports(place.deps.application)).toEqual([]);
    },
  );
});

/** A cancelled batch: a process died before it wrote down an answer of what it had frozen, if any POST of it left. */
async function cancelledOnes(
  place: ActivityPlace,
  handOut: (batch: TestBatch, ref: string) => Promise<unknown>,
  refs: readonly string[] = ['R0'],
): Promise<TestBatch> {
  const { ledger } = place.deps;
  const batch = await place.scenario.run(refs.map((ref) => ({ ref })));
  for (const ref of refs) await handOut(batch, ref);
  const page = { page: 1, settleMs: 900_000, waitedFor: null, ending: 'cancelled' } as const;
  await closePage(place.deps, { ledgerId: ledger.id, batchId: batch.batchId, ...page });
  const { workflowId, runId } = await batch.record();
  await ledger.recordControl({ batchId: batch.batchId, workflowId, runId, version: 1, paused: false, cancelled: true });
  await ledger.setBatchState(batch.batchId, 'cancelled', NOW + 9);
  await noteReport(place, batch);
  return batch;
}

describe('what a cancelled batch left unknown', () => {
  const DAY_LEFT_MS = 12 * 3_600_000;

  it.each([
    ['frozen', (batch: TestBatch, ref: string) => batch.freeze(ref)],
    [
      'put off by the service, and handed out again',
      async (batch: TestBatch, ref: string) => {
        await batch.send(ref, { kind: 'pending', reason: SAID, mayExist: false });
        await batch.freeze(ref);
      },
    ],
    [
      'sent, and its answer lost',
      (batch: TestBatch, ref: string) => batch.send(ref, { kind: 'pending', reason: LOST, mayExist: true }),
    ],
  ] as const)('is POSTed by no reconciliation until a person has run its file again: %s', async (_, handOut) => {
    const { posts, service } = answering({ kind: 'created', serviceId: `inv_cancelled_${randomUUID()}` });
    const place = placeOf({ service });
    const batch = await cancelledOnes(place, handOut);
    place.later(DAY_LEFT_MS);

    for (const all of [false, true])
      expect(await asActivity(repeatUnknown, place.deps, { all })).toMatchObject({ repeated: 0 });
    expect(posts).toEqual([]);
    expect(await batch.line('R0')).toMatchObject({ state: 'unknown' });

    await batch.claim({ runId: 'run-2', attempt: 1 });
    await reported(place, batch);
    expect(await asActivity(repeatUnknown, place.deps, { all: false })).toMatchObject({ repeated: 1, found: 1 });
    expect(posts).toHaveLength(1);
  });

  it('is POSTed by no reconciliation after a retry of something else', async () => {
    const { posts, service } = answering({ kind: 'created', serviceId: `inv_cancelled_${randomUUID()}` });
    const place = placeOf({ service });
    const batch = await cancelledOnes(place, (one, ref) => one.freeze(ref));
    const run = { workflowId: 'retry', runId: 'run-2', attempt: 1, takeOver: false };
    await place.deps.ledger.reopenBatch({ batchId: batch.batchId, ...run, endsStop: false });
    await reported(place, batch);
    place.later(DAY_LEFT_MS);

    expect(await repeatAll(place)).toMatchObject({ repeated: 0 });
    expect(posts).toEqual([]);
  });
});

/** Longer than anybody waits for a process that is silent: by then an operator may have given its invoices a new key. */
const STOPPED_MS = 10 * 60_000;

describe('unknown invoices of a process that stood still after it took them', () => {
  /** The real client and a real server; the process is stopped once, where the test says, for so long by its own clock. */
  async function stopping(where: 'before the client' | 'in the client', stoppedMs: number, later = 0) {
    const server = await scriptedServer((_, response) => sendJson(response, 201, { id: `inv_${randomUUID()}` }));
    let left = 1;
    const stop = (): void => {
      if (left > 0) place.later(stoppedMs);
      left = 0;
    };
    const rate = localRate(null);
    const client = createInvoicingService({
      ...{ baseUrl: server.baseUrl, apiKey: 'sk_test_stopped', profile: DEFAULT_PROFILE, application: 'tests' },
      rate: { ...rate, current: () => (where === 'in the client' && stop(), rate.current()) },
    });
    onTestFinished(() => client.close());
    const place: ActivityPlace = placeOf({
      settings: { maxConcurrency: 1 },
      service: {
        createInvoice(body, key, limits) {
          if (where === 'before the client') stop();
          return client.createInvoice(body, key, limits);
        },
      },
    });
    const batch = await unknownOnes(place, 2);
    place.later(later);
    const { deps } = place;
    const { ledger, calibration, log, now } = deps;
    // Stands still with the process.
    const permission = new SendingPermission({ ledger, calibration, log, clock: now });
    const reconcile = () => repeatAll({ ...place, deps: { ...deps, permission } });
    return { place, batch, reconcile, posts: () => server.received.length };
  }

  it.each(['before the client', 'in the client'] as const)(
    'stay as they were taken when it goes on after ten minutes, %s; the next reconciliation repeats them',
    async (where) => {
      const { place, batch, reconcile, posts } = await stopping(where, STOPPED_MS);

      expect(await reconcile()).toMatchObject({ repeated: 0, serviceAway: false });
      expect(posts(), 'POSTs by a decision that was ten minutes old').toBe(0);
      expect((await batch.lines()).map(({ state, attempts }) => [state, attempts])).toEqual([
        ['sending', 1],
        ['sending', 1],
      ]);

      place.later(STOPPED_MS);
      expect(await reconcile()).toMatchObject({ repeated: 2, found: 2 });
      expect(posts()).toBe(2);
    },
  );

  it.each(['before the client', 'in the client'] as const)(
    'are not repeated when their window ended meanwhile, %s',
    async (where) => {
      const { batch, reconcile, posts } = await stopping(where, 60_000, RETRY.retentionMs - 30_000);

      expect(await reconcile()).toMatchObject({ repeated: 0, serviceAway: false });
      expect(posts()).toBe(0);
      const ended = ['unknown', 'retention-window-over'];
      expect((await batch.lines()).map(({ state, reason }) => [state, reason?.code])).toEqual([ended, ended]);
    },
  );
});

describe('documents without a final word', () => {
  const ISSUED: StatusAnswer = { kind: 'status', status: 'issued', reason: null };
  const PROCESSING: StatusAnswer = { ...ISSUED, status: 'processing' };

  /** One poll of all documents, by a service that says this of each. */
  async function polled({ deps }: ActivityPlace, answer: (serviceId: string) => StatusAnswer) {
    const asked: string[] = [];
    const getInvoice = (serviceId: string): Promise<StatusAnswer> => {
      asked.push(serviceId);
      return Promise.resolve(answer(serviceId));
    };
    const result = await asActivity(
      pollOpenDocuments,
      { ...deps, service: { ...deps.service, getInvoice } },
      { all: true },
    );
    return { asked, result };
  }

  async function acceptedOnes(place: ActivityPlace, refs: readonly string[]): Promise<TestBatch> {
    const batch = await place.scenario.run(refs.map((ref) => ({ ref })));
    for (const ref of refs) await batch.send(ref, accepted(serviceIdOf(place.scenario, ref)));
    return reported(place, batch);
  }

  const acceptedOne = (place: ActivityPlace, ref = 'A') => acceptedOnes(place, [ref]);
  const acceptedMany = (place: ActivityPlace, count: number) => {
    const refs = texts(count, 'M').map(({ ref }) => ref);
    return acceptedOnes(place, refs);
  };

  function only(place: ActivityPlace, answer: StatusAnswer): (serviceId: string) => StatusAnswer {
    return (serviceId) => (serviceId === serviceIdOf(place.scenario, 'A') ? answer : ISSUED);
  }

  it.each<readonly [string, StatusAnswer, string]>([
    ['issued', ISSUED, 'issued'],
    ['failed', { kind: 'status', status: 'failed', reason: SAID }, 'failed'],
    ['still being processed', PROCESSING, 'accepted'],
    ['not readable', { kind: 'status', status: 'unreadable', reason: null }, 'accepted'],
    ['not now', { kind: 'not-now', reason: REASON, retryAfterMs: null }, 'accepted'],
  ])('that are %s', async (_, answer, state) => {
    const place = placeOf();
    const batch = await acceptedOne(place);

    const { asked } = await polled(place, only(place, answer));

    expect(asked).toContain(serviceIdOf(place.scenario, 'A'));
    expect((await batch.line('A')).state).toBe(state);
  });

  it('are left to another attempt, not called those of a service that is away, when the worker stops while many are asked', async () => {
    const env = new MockActivityEnvironment();
    let asked = 0;
    const place = placeOf({
      settings: { maxConcurrency: 12 },
      service: {
        getInvoice: (_serviceId, signal) =>
          new Promise<StatusAnswer>((resolve) => {
            signal?.addEventListener('abort', () => resolve({ kind: 'not-now', reason: LOST, retryAfterMs: null }));
            if ((asked += 1) === 12) env.cancel();
          }),
      },
    });
    await acceptedMany(place, 12);

    await expect(env.run(pollOpenDocuments, place.deps, { all: true })).rejects.toMatchObject({ type: 'worker-stops' });
  });

  it('are left for the next time when ten in a row bring no answer, also after others brought one', async () => {
    let asked = 0;
    const place = placeOf({
      settings: { maxConcurrency: 1 },
      service: {
        getInvoice() {
          asked += 1;
          return Promise.resolve<StatusAnswer>(
            asked <= 5 ? ISSUED : { kind: 'not-now', reason: LOST, retryAfterMs: null },
          );
        },
      },
    });
    await acceptedMany(place, 40);

    expect(await pollAll(place)).toEqual({ asked: 15, settled: 5, serviceAway: true });
    expect(asked).toBe(15);
  });

  it('are counted: asked, and of those settled; those of another application are not asked for', async () => {
    const place = placeOf();
    await acceptedOne(place);
    await acceptedOne(place, 'B');
    await acceptedOne(placeOf());
    const { result } = await polled(place, only(place, PROCESSING));

    expect(result).toEqual({ asked: 2, settled: 1, serviceAway: false });
    expect((await polled(place, () => ISSUED)).result).toEqual({ asked: 1, settled: 1, serviceAway: false });
  });

  it('that are silent for longer than the settle time are unsettled', async () => {
    const place = placeOf();
    const batch = await acceptedOne(place);
    place.later(900_001);

    await polled(place, () => PROCESSING);

    expect((await batch.line('A')).state).toBe('unsettled');
  });
});

describe('documents behind words that contradict each other', () => {
  const reason = { code: PROFILE_CONTRADICTION, message: 'Correct the profile' };

  it.each([
    [PROFILE_CONTRADICTION, { asked: 0, settled: 0, serviceAway: true, profileFoundWrong: true }, 1],
    // A GET creates nothing, and documents of before have ids of their own.
    [SERVICE_IDS_REPEATED, { asked: 1, settled: 1, serviceAway: false }, 0],
  ])(
    'are not polled until an operator confirms the profile, unless keys get one id alone: %s',
    async (code, result, left) => {
      const place = placeOf({
        service: { getInvoice: () => Promise.resolve({ kind: 'status', status: 'issued', reason: null }) },
      });
      const { deps, scenario } = place;
      await reported(place, await sentBatch(place, [accepted(serviceIdOf(scenario, code))]));
      await deps.calibration.stop({ ...reason, code });

      expect(await pollAll(place)).toEqual(result);
      await place.trust();

      expect(await pollAll(place)).toEqual({ asked: left, settled: left, serviceAway: false });
    },
  );

  it('are not polled from the answer on that shows it, and that answer settles nothing either', async () => {
    let polls = 0;
    const place = placeOf({
      settings: { maxConcurrency: 1 },
      service: {
        async getInvoice() {
          polls += 1;
          if (polls === 2) await place.deps.calibration.stop(reason);
          return { kind: 'status', status: 'failed', reason: REASON };
        },
      },
    });
    const { scenario } = place;
    const outcomes = [0, 1, 2, 3].map((at) => accepted(serviceIdOf(scenario, `shown-${at}`)));
    const batch = await reported(place, await sentBatch(place, outcomes));

    expect(await pollAll(place)).toMatchObject({
      ...{ settled: 1, serviceAway: true, profileFoundWrong: true },
    });
    expect(polls).toBe(2);
    expect((await batch.lines()).map(({ state }) => state).toSorted()).toEqual([
      ...['accepted', 'accepted', 'accepted', 'failed'],
    ]);
  });
});

describe('reports that no longer say what the ledger says', () => {
  it('are those of batches of which something moved since', async () => {
    const place = placeOf({ service: answering({ kind: 'created', serviceId: 'inv_outdated' }).service });
    const batch = await unknownOnes(place, 1);

    const before = await outdatedReports(place.deps);
    await repeatAll(place);

    expect(before).not.toContain(batch.batchId);
    expect(await outdatedReports(place.deps)).toContain(batch.batchId);
  });

  describe('and whose run ended before it wrote another one', () => {
    const ended = { over: { runs: runsThatAre('ended') } };

    it('are those of files that were refused first and sent when they were dropped again', async () => {
      const place = placeOf(ended);
      const { ledger } = place.deps;
      const batch = await place.scenario.begin();
      await ledger.refuseBatch(batch, { rows: 1, fileFindings: [], proof: {}, now: NOW });
      await noteReport(place, batch);
      const refused = await outdatedReports(place.deps);
      await batch.claim({ workflowId: 'workflow-2', runId: 'run-2', now: NOW + 1 });
      await batch.stage('A');
      await batch.send('A', { kind: 'rejected', reason: REASON });

      await batch.finish();

      expect(refused).toEqual([]);
      expect(await outdatedReports(place.deps)).toEqual([batch.batchId]);
    });

    it('are those of batches that ran again, also when each invoice ended as before', async () => {
      const place = placeOf(ended);
      const { ledger } = place.deps;
      const batch = await place.scenario.run([{ ref: 'A' }]);
      await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });
      await reported(place, batch);
      await batch.claim({ runId: 'run-2', now: NOW + 20 });
      await ledger.releaseHeld(batch.batchId, NOW + 20);
      await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW + 20 });

      await ledger.setBatchState(batch.batchId, 'cancelled', NOW + 30);

      expect(await outdatedReports(place.deps)).toEqual([batch.batchId]);
    });
  });
});
