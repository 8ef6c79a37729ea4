import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRequestLimiter, type RequestLimiterOptions } from '../../../../src/service/limits/request-limiter.ts';
import { localRate } from '../../../../src/service/limits/rate-limiter.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { createRateLimit } from '../../../../src/sandbox/http/handle-request.ts';
import type { ExchangeResult } from '../../../../src/service/exchange-result.ts';

function answer(status: number, retryAfterMs: number | null = null): ExchangeResult {
  return { kind: 'answer', status, retryAfterMs, body: { kind: 'json', value: {} } };
}

function limiterOf({
  requestsPerSecond = null as number | null,
  maxConcurrency = 8,
  ...options
}: Partial<RequestLimiterOptions & { requestsPerSecond: number | null; maxConcurrency: number }> = {}) {
  const profile = { ...DEFAULT_PROFILE, limits: { ...DEFAULT_PROFILE.limits, maxConcurrency } };
  return createRequestLimiter({ profile, rate: localRate(requestsPerSecond), random: () => 0, ...options });
}

describe('the request limiter', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('keeps to the concurrency', async () => {
    const limiter = limiterOf({ maxConcurrency: 3 });
    let open = 0;
    let most = 0;
    const send = async (): Promise<ExchangeResult> => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 10));
      open -= 1;
      return answer(201);
    };

    const all = Promise.all(Array.from({ length: 20 }, async () => await limiter.pass(send)));
    await vi.runAllTimersAsync();
    await all;

    expect(most).toBe(3);
  });

  it('waits a hold of five seconds out, and answers a longer one at once', async () => {
    const limiter = limiterOf();
    await limiter.pass(async () => answer(429, 5_000));
    const waiting = limiter.pass(async () => answer(201));
    await vi.advanceTimersByTimeAsync(5_000);

    expect(await waiting).toEqual(answer(201));
    await limiter.pass(async () => answer(429, 5_001));
    expect(await limiter.pass(async () => answer(201))).toMatchObject({ code: 'retry-after-in-force' });
  });

  it.each([
    [0, 2_000],
    [0.5, 2_100],
    [1, 2_200],
  ])(
    'adds up to a tenth to a hold, so that not all workers come at once: with %d it ends after %d ms',
    async (chance, ms) => {
      const limiter = limiterOf({ random: () => chance });
      const send = vi.fn(async () => answer(201));
      await limiter.pass(async () => answer(429, 2_000));

      void limiter.pass(send);
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(send).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);

      expect(send).toHaveBeenCalledOnce();
    },
  );

  it('holds nothing when a 503 names no time', async () => {
    const hold = vi.fn(async () => undefined);
    const limiter = limiterOf({ rate: { ...localRate(null), hold } });

    await limiter.pass(async () => answer(503));

    expect(hold).not.toHaveBeenCalled();
    expect(await limiter.pass(async () => answer(201))).toEqual(answer(201));
  });

  it('sends nothing when the shared rate cannot be reached, and sends again when it can', async () => {
    let away = true;
    const rate = localRate(null);
    const send = vi.fn(async () => answer(201));
    const limiter = limiterOf({
      maxConcurrency: 1,
      rate: {
        ...rate,
        current: () => (away ? Promise.reject(new Error('the ledger is away')) : rate.current()),
      },
    });

    expect(await limiter.pass(send)).toEqual({ kind: 'not-sent', code: 'rate-unavailable', retryAfterMs: null });
    expect(send).not.toHaveBeenCalled();
    away = false;
    expect(await limiter.pass(send)).toEqual(answer(201));
  });

  it('does not send what was cancelled while it waited', async () => {
    const limiter = limiterOf();
    const send = vi.fn(async () => answer(201));
    const stop = new AbortController();
    await limiter.pass(async () => answer(429, 2_000));

    const held = limiter.pass(send, { signal: stop.signal });
    await vi.advanceTimersByTimeAsync(100);
    stop.abort();

    expect(await held).toEqual({ kind: 'not-sent', code: 'cancelled', retryAfterMs: null });
    expect(send).not.toHaveBeenCalled();
  });

  it.each([
    ['cancelled', { kind: 'not-sent', code: 'cancelled', retryAfterMs: null }],
    ['withdrawn', { kind: 'not-permitted' }],
  ])('ends what waits for a slot as soon as it is %s, with a signal and a permit', async (which, expected) => {
    const limiter = limiterOf({ maxConcurrency: 1 });
    const send = vi.fn(async () => answer(201));
    const [cancel, withdraw] = [new AbortController(), new AbortController()];
    const permit = { withdrawn: withdraw.signal, isValid: () => true, confirm: async () => true };
    const blocked = new Promise<ExchangeResult>((resolve) => setTimeout(() => resolve(answer(200)), 60_000));
    void limiter.pass(async () => await blocked);
    const waiting = limiter.pass(send, { signal: cancel.signal, permit });

    (which === 'cancelled' ? cancel : withdraw).abort();

    expect(await waiting).toEqual(expected);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(send).not.toHaveBeenCalled();
  });

  it.each(['a slot', 'its place in the rate', 'the end of a Retry-After'])(
    'does not send what waits for %s when its permit is withdrawn',
    async (what) => {
      const limiter = limiterOf({ maxConcurrency: what === 'a slot' ? 1 : 8, requestsPerSecond: 1 });
      const send = vi.fn(async () => answer(201));
      const stop = new AbortController();
      const permit = { withdrawn: stop.signal, isValid: () => true, confirm: async () => !stop.signal.aborted };
      void limiter.pass(async () => answer(what === 'the end of a Retry-After' ? 429 : 201, 2_000));
      const waiting = limiter.pass(send, { permit });

      await vi.advanceTimersByTimeAsync(100);
      stop.abort();
      await vi.advanceTimersByTimeAsync(10_000);

      expect(await waiting).toEqual({ kind: 'not-permitted' });
      expect(send).not.toHaveBeenCalled();
    },
  );

  it('asks the permit when the place in the rate has come', async () => {
    const limiter = limiterOf({ requestsPerSecond: 1 });
    const send = vi.fn(async () => answer(201));
    const withdrawn = new AbortController().signal;
    const permit = { withdrawn, isValid: () => true, confirm: async () => false };

    expect(await limiter.pass(send, { permit })).toEqual({ kind: 'not-permitted' });
    expect(send).not.toHaveBeenCalled();
  });

  it('gives its slot back when sending throws', async () => {
    const limiter = limiterOf({ maxConcurrency: 1 });
    const failing = limiter.pass(async () => {
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');

    expect(await limiter.pass(async () => answer(200))).toEqual(answer(200));
  });

  /** How long after the begin each request left, and how many of them got a 429 from a service with that limit. */
  async function against(limit: number, options: { requests: number; requestsPerSecond?: number }) {
    const limiter = limiterOf({ ...options, maxConcurrency: 32 });
    const isOver = createRateLimit(limit, Date.now);
    const begin = Date.now();
    const sentAt: number[] = [];
    let refused = 0;
    const send = async (): Promise<ExchangeResult> => {
      sentAt.push(Date.now() - begin);
      const over = isOver();
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (!over) return answer(201);
      refused += 1;
      return answer(429);
    };
    async function untilTaken(): Promise<void> {
      for (;;) {
        const end = await limiter.pass(send);
        if (end.kind === 'answer' && end.status === 201) return;
      }
    }

    const all = Promise.all(Array.from({ length: options.requests }, untilTaken));
    await vi.runAllTimersAsync();
    await all;
    return { sentAt, refused, tookMs: Date.now() - begin };
  }

  it.each([
    ['without a rate of its own', {}],
    ['with one that is too high', { requestsPerSecond: 500 }],
  ])('finds the rate that the service takes, %s', async (_title, own) => {
    const { refused, tookMs } = await against(20, { requests: 600, ...own });

    // Without it, 32 at a time ask some 1,600 times a second.
    expect(refused).toBeLessThan(120);
    expect(tookMs, 'near the limit of the service: 600 at 20 a second are half a minute').toBeLessThan(60_000);
  });

  it('gives up a place that comes while the service asks to wait', async () => {
    const limiter = limiterOf({ requestsPerSecond: 1 });
    const begin = Date.now();
    const sentAt: number[] = [];
    const send = (end: ExchangeResult) => async (): Promise<ExchangeResult> => {
      sentAt.push(Date.now() - begin);
      return end;
    };

    const all = Promise.all([
      limiter.pass(send(answer(503, 3_500))),
      limiter.pass(send(answer(201))),
      limiter.pass(send(answer(201))),
    ]);
    await vi.runAllTimersAsync();
    await all;

    expect(sentAt[0]).toBe(0);
    expect(Math.min(...sentAt.slice(1)), 'nobody before the end of the hold').toBeGreaterThanOrEqual(3_500);
    expect((sentAt[2] ?? 0) - (sentAt[1] ?? 0), 'and then one after the other').toBeGreaterThanOrEqual(1_000);
  });
});
