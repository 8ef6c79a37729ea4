import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  BATCH_STOPPED,
  SendingPermission,
  timelyAnswer,
  type SendingPermit,
} from '../../../../activities/sending/sending-permission.ts';
import { steadyClock } from '../../../../src/domain/time/steady-clock.ts';
import type { Reason } from '../../../../src/domain/invoice.ts';
import { localRate } from '../../../../src/service/limits/rate-limiter.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { createRequestLimiter } from '../../../../src/service/limits/request-limiter.ts';
import type { SendingBatch } from '../../../../src/ledger/sending/sending-control.ts';

const RUN = { workflowId: 'w', runId: 'r' };
const NEVER = new AbortController().signal;
const NO_BODY = { kind: 'json', value: {} } as const;

const log = { warn: () => undefined };
const NO_STOP = { stopped: () => Promise.resolve(null), stoppedHere: () => null };

/** A ledger that says what the test wants, and a clock that the test moves. */
function permissionOf(batchIds: readonly string[] = ['b']) {
  const stops: { elsewhere: Reason | null; here: Reason | null } = { elsewhere: null, here: null };
  const state = { clock: 0, asked: 0, away: false, slowMs: 0, sending: batchIds, run: RUN, ...stops };
  const permission = new SendingPermission({
    log,
    ledger: {
      async sendingBatches(wanted) {
        state.asked += 1;
        const found: SendingBatch[] = wanted
          .filter((batchId) => state.sending.includes(batchId))
          .map((batchId) => ({ batchId, ...state.run }));
        if (state.away) throw new Error('away');
        state.clock += state.slowMs;
        return found;
      },
    },
    calibration: { stopped: () => Promise.resolve(state.here ?? state.elsewhere), stoppedHere: () => state.here },
    clock: () => state.clock,
  });
  const permitOf = (over: Partial<Parameters<typeof permission.request>[0]> = {}): SendingPermit => {
    const permit = permission.request({ batch: { batchId: 'b', run: RUN }, lastsMs: 60_000, over: NEVER, ...over });
    onTestFinished(() => permit.close());
    return permit;
  };
  return { state, permitOf };
}

/** The same, with a permit that the ledger has confirmed. */
async function confirmed() {
  const place = permissionOf();
  const permit = place.permitOf();
  await permit.confirm();
  return { ...place, permit };
}

describe('the permission to send', () => {
  it('is asked for before the first POST, and holds for those of the next half second', async () => {
    const { state, permitOf } = permissionOf();
    const permit = permitOf();

    expect(permit.isValid()).toBe(false);
    expect(await permit.confirm()).toBe(true);
    state.clock += 500;
    expect(permit.isValid()).toBe(true);
    state.clock += 1;

    expect(permit.isValid()).toBe(false);
  });

  it('is asked for by one question for all batches that are being sent', async () => {
    const { state, permitOf } = permissionOf(['b', 'c']);
    const permits = [permitOf(), permitOf({ batch: { batchId: 'c', run: RUN } }), permitOf()];

    const said = await Promise.all(permits.map((permit) => permit.confirm()));

    expect(said).toEqual([true, true, true]);
    expect(state.asked).toBe(1);
  });

  it('counts from the moment of the question, not of its answer', async () => {
    const { state, permitOf } = permissionOf();
    const permit = permitOf();
    state.slowMs = 501;

    const slow = permit.confirm();
    await sleep(120);
    expect(permit.isValid()).toBe(false);
    state.slowMs = 0;

    expect(await slow).toBe(true);
  });

  it('is withdrawn at once when its attempt is over, which says nothing of the batch', async () => {
    const { permitOf } = permissionOf();
    const attempt = new AbortController();
    const permit = permitOf({ over: attempt.signal });
    const other = permitOf();
    expect(await permit.confirm()).toBe(true);

    attempt.abort();

    expect(permit.withdrawn.reason).not.toBe(BATCH_STOPPED);
    expect(permit.isValid()).toBe(false);
    expect(await permit.confirm()).toBe(false);
    expect(await other.confirm()).toBe(true);
    expect(permitOf({ over: attempt.signal }).withdrawn.aborted).toBe(true);
  });

  it.each([
    ['the batch is paused, cancelled or closed', { sending: [] }],
    ['another run holds the claim', { run: { ...RUN, runId: 'another' } }],
    ['another workflow holds the claim', { run: { ...RUN, workflowId: 'another' } }],
  ])('is withdrawn for good when %s', async (_, found) => {
    const { state, permitOf, permit } = await confirmed();
    const before = { sending: state.sending, run: state.run };

    Object.assign(state, found);
    state.clock += 501;
    expect(await permit.confirm()).toBe(false);
    Object.assign(state, before);
    state.clock += 501;

    expect(permit.withdrawn.aborted).toBe(true);
    expect(await permit.confirm()).toBe(false);
    expect(await permitOf().confirm(), 'a later attempt asks anew').toBe(true);
  });

  it.each(['profile-contradiction', 'service-ids-repeated'])(
    'is withdrawn for good when another process has stopped the service by %s, and says why',
    async (code) => {
      const { state, permitOf, permit } = await confirmed();

      state.elsewhere = { code, message: 'Correct the profile' };
      await new Promise((resolve) => permit.withdrawn.addEventListener('abort', resolve));
      const before = permit.isValid();
      const stopped = permitOf();
      expect(await stopped.confirm(), 'nor does another attempt get one').toBe(false);
      state.elsewhere = null;

      expect(before).toBe(false);
      expect([permit, stopped].map((one) => one.stoppedBecause()?.code)).toEqual([code, code]);
      expect(await permit.confirm()).toBe(false);
      expect(await permitOf().confirm(), 'a later attempt asks anew').toBe(true);
    },
  );

  it('ends at once, without a question, when its own process stops the service', async () => {
    const { state, permit } = await confirmed();

    state.here = { code: 'profile-contradiction', message: 'Correct the profile' };

    expect(permit.isValid()).toBe(false);
    expect(await permit.confirm()).toBe(false);
    expect(permit.stoppedBecause()).toBe(state.here);
  });

  it('says that its batch is stopped where the service is, too', async () => {
    const { state, permitOf } = permissionOf([]);
    state.elsewhere = { code: 'profile-contradiction', message: 'Correct the profile' };
    const permit = permitOf();

    expect(await permit.confirm()).toBe(false);
    expect(permit.withdrawn.reason).toBe(BATCH_STOPPED);
    expect(permit.stoppedBecause()).toBeNull();
  });

  it('is over for a process that stood still for longer than it lasts', async () => {
    const { state, permit } = await confirmed();
    state.clock += 600_000;

    expect([permit.isValid(), await permit.confirm()]).toEqual([false, false]);
  });

  it('is over at once for an attempt that has ended; that of others is withdrawn without being asked for', async () => {
    const { state, permitOf } = permissionOf();
    const [ended, other] = [permitOf(), permitOf()];
    await Promise.all([ended.confirm(), other.confirm()]);

    ended.close();

    expect([ended.isValid(), other.isValid()]).toEqual([false, true]);
    expect(await ended.confirm()).toBe(false);
    state.sending = [];
    // Within half a second of real time.
    await new Promise((resolve) => other.withdrawn.addEventListener('abort', resolve));
    expect(other.isValid()).toBe(false);
  });

  it('holds up to the last moment of its attempt, and not for longer', async () => {
    const { state, permitOf } = permissionOf();
    const permit = permitOf({ lastsMs: 400 });
    await permit.confirm();

    state.clock += 400;
    expect([permit.isValid(), await permit.confirm()]).toEqual([true, true]);
    state.clock += 1;

    expect(permit.isValid()).toBe(false);
  });

  it('runs out by the clock of the machine while the ledger is away', async () => {
    let isAway = false;
    const sendingBatches = () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve([{ batchId: 'b', ...RUN }]);
    const permission = new SendingPermission({ ledger: { sendingBatches }, calibration: NO_STOP, log });
    const permit = permission.request({ batch: { batchId: 'b', run: RUN }, lastsMs: 60_000, over: NEVER });
    onTestFinished(() => permit.close());
    expect(await permit.confirm()).toBe(true);

    isAway = true;
    await sleep(600);

    expect(permit.isValid()).toBe(false);
  });

  it('is not given while the ledger is away, and comes when it is back', async () => {
    const { state, permitOf } = permissionOf();
    state.away = true;
    const permit = permitOf();
    let said: boolean | null = null;
    const asked = permit.confirm().then((yes) => (said = yes));
    await sleep(150);
    expect(said).toBeNull();

    state.away = false;

    expect(await asked).toBe(true);
  });

  it('is over with its attempt also for what waits for a slow rate', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limiter = createRequestLimiter({ profile: DEFAULT_PROFILE, rate: localRate(0.1) });
    const permit = permissionOf().permitOf({ lastsMs: 60_000 });
    const ends: string[] = [];
    const send = () => Promise.resolve({ kind: 'answer', status: 201, retryAfterMs: null, body: NO_BODY } as const);

    for (let request = 0; request < 64; request += 1)
      void limiter.pass(send, { permit }).then(({ kind }) => ends.push(kind));
    await vi.advanceTimersByTimeAsync(300_000);

    expect(ends).toHaveLength(64);
    expect(ends).toContain('not-permitted');
  });

  it('is refused at the end of its attempt although the ledger never answers', async () => {
    const sendingBatches = () => new Promise<never>(() => undefined);
    const permission = new SendingPermission({ ledger: { sendingBatches }, calibration: NO_STOP, log });
    const [outlived, over] = [
      permission.request({ batch: { batchId: 'b', run: RUN }, lastsMs: 50, over: NEVER }),
      permission.request({ batch: { batchId: 'b', run: RUN }, lastsMs: 60_000, over: NEVER }),
    ];
    onTestFinished(() => outlived.close());

    const asked = Promise.all([outlived.confirm(), over.confirm()]);
    over.close();

    expect(await asked).toEqual([false, false]);
  });
});

it('a POST may leave by the answer of a ledger that takes longer than an answer is good for', async () => {
  const clock = steadyClock();

  const asked = await timelyAnswer(clock, () => sleep(700, 'sending'));

  expect(asked?.answer).toBe('sending');
  expect(clock()).toBeLessThanOrEqual(asked?.until ?? 0);
});

it('no POST leaves by an answer that came while the process stood still', async () => {
  let now = 0;

  const asked = await timelyAnswer(
    () => now,
    () => {
      now += 600_000;
      return Promise.resolve('sending');
    },
  );

  expect(asked).toBeNull();
});
