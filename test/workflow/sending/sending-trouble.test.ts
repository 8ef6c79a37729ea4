import {
  type FrontAnswer,
  type FrontRequest,
  type FrontScript,
  independentSandbox,
  isInvoice,
  SANDBOX_KEY,
} from '../../support/servers/service-front.ts';
import { describe, expect, it } from 'vitest';
import { expectAgreement, expectFrozenBytes, withStack } from '../../support/lote/stack.ts';
import { testInvoices } from '../../support/files/batch-file.ts';

const ONE_AT_A_TIME = { limits: { maxConcurrency: 1 } };

/** The test's invoices carry their reference in the customer's name. */
function isOf(request: FrontRequest, ref: string): boolean {
  return isInvoice(request) && request.body.includes(`"Cliente Secreto ${ref}"`);
}

/** A sandbox that keeps an error under every key. */
async function storingErrors(): Promise<{ readonly url: string } & AsyncDisposable> {
  const sandbox = await independentSandbox({ faults: { stored500: 1 } });
  return { url: sandbox.url, [Symbol.asyncDispose]: async () => sandbox.close() };
}

/** What another sandbox says to the same request. */
async function answerOf(url: string, { path, key, body }: FrontRequest): Promise<FrontAnswer> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key ?? '' };
  const answer = await fetch(url + path, {
    ...{ method: 'POST', body },
    headers: { ...headers, authorization: `Bearer ${SANDBOX_KEY}` },
  });
  return { status: answer.status, json: await answer.json() };
}

describe('sending', { concurrent: true }, () => {
  it('repeats lost answers with the same key and the same bytes, whether the invoice was created or not', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = (request) => {
        if (!isInvoice(request) || request.nth > 1) return 'pass';
        return stack.posts().length % 2 === 0 ? 'pass-and-cut' : 'cut';
      };

      const result = await stack.run('lost.csv', testInvoices(40));

      expect(result.counts).toMatchObject({ invoices: 40, issued: 40 });
      expect(expectFrozenBytes(stack)).toBe(40);
      await expectAgreement(stack, result.batchId);
    });
  });

  it.each<readonly [string, Readonly<Record<string, string>>, number, FrontScript, Readonly<Record<string, string>>]>([
    [
      'a refusal after a lost answer unknown, never rejected',
      {},
      6,
      (request) => {
        if (!isOf(request, 'F-3') && !isOf(request, 'F-4')) return 'pass';
        if (request.nth > 1) return { status: 422 };
        return isOf(request, 'F-3') ? 'cut' : 'pass-and-cut';
      },
      { 'F-3': 'unknown', 'F-4': 'unknown' },
    ],
    [
      // More than one slice's tries: handing it out again must not look like a lost answer.
      'rejected what the service refuses for good after answers that only put it off',
      {},
      4,
      (request) => (isOf(request, 'F-2') ? { status: request.nth <= 7 ? 429 : 422 } : 'pass'),
      { 'F-2': 'rejected' },
    ],
    [
      'held what was only put off when the send time is spent, and unknown what may have arrived',
      { LOTE_SEND_TIMEOUT: '4s' },
      5,
      (request) => {
        if (isOf(request, 'F-2')) return { status: 429 };
        if (isOf(request, 'F-3')) return 'cut';
        return isOf(request, 'F-4') ? { status: request.nth === 2 ? 503 : 425 } : 'pass';
      },
      { 'F-2': 'held', 'F-3': 'unknown', 'F-4': 'unknown' },
    ],
    [
      // Two keys: in three rounds of three tries they have 18 answers, and 20 in a row would open the circuit breaker.
      'unknown what is busy by the Retry-After on a 409, which speaks of one key: the others are not kept waiting',
      { LOTE_PAGE_SIZE: '2', LOTE_SEND_TIMEOUT: '6s' },
      12,
      (request) =>
        isOf(request, 'F-1') || isOf(request, 'F-7') ? { status: 409, headers: { 'retry-after': '1' } } : 'pass',
      { 'F-1': 'unknown', 'F-7': 'unknown' },
    ],
    [
      'unknown what was answered with a yes without a usable id',
      { LOTE_SEND_TIMEOUT: '6s' },
      3,
      (request) => (isOf(request, 'F-1') ? { status: 201, json: { id: 'mrc_1' } } : 'pass'),
      { 'F-1': 'unknown' },
    ],
  ])('calls %s', async (_, env, invoices, script, states) => {
    await withStack({ env }, async (stack) => {
      stack.front.script = script;

      const { batchId, counts } = await stack.run('trouble.csv', testInvoices(invoices));

      const others = (await stack.lines(batchId)).filter(({ state }) => state !== 'issued');
      expect(Object.fromEntries(others.map(({ ref, state }) => [ref, state]))).toEqual(states);
      expect(new Set(others.map(({ serviceId }) => serviceId))).toEqual(new Set([null]));
      expect(others.find(({ state }) => state === 'held')?.reason?.code ?? 'scripted').toBe('scripted');
      expect(counts).toMatchObject({ issued: invoices - others.length });
      await expectAgreement(stack, batchId);
    });
  });

  it.each([4, 7])(
    'stops asking %i keys under which the service keeps an error, though they are the last of the batch',
    async (count) => {
      const env = { LOTE_SEND_TIMEOUT: '30s' };
      await using storing = await storingErrors();
      await withStack({ env, profile: { limits: { maxConcurrency: 4 } } }, async (stack) => {
        const last = new Set(Array.from({ length: count }, (_, at) => `F-${20 - at}`));
        const isLast = (request: FrontRequest): boolean => [...last].some((ref) => isOf(request, ref));
        stack.front.script = (request) => (isLast(request) ? answerOf(storing.url, request) : 'pass');

        const result = await stack.run('stored-tail.csv', testInvoices(20));

        expect(result.counts).toMatchObject({ issued: 20 - count, unknown: count });
        for (const ref of last) {
          expect(await stack.line(result.batchId, ref)).toMatchObject({
            ...{ state: 'unknown', generation: 1, reason: { code: 'stored-error' } },
          });
        }
        await expectAgreement(stack, result.batchId);
      });
    },
  );

  it('waits on the page for a Retry-After that is longer than a slice may wait', async () => {
    await withStack({ profile: ONE_AT_A_TIME, env: { LOTE_SEND_TIMEOUT: '1s' } }, async (stack) => {
      let saidAt = 0;
      stack.front.script = (request) => {
        if (!isOf(request, 'F-2') || request.nth > 1) return 'pass';
        saidAt = request.at;
        return { status: 429, headers: { 'retry-after': '6' } };
      };

      const result = await stack.run('long-retry-after.csv', testInvoices(4));

      // Longer than the send time, which it does not use up.
      expect(result.counts).toMatchObject({ issued: 4 });
      const after = stack.posts().filter(({ at }) => at > saidAt);
      expect(Math.min(...after.map(({ at }) => at)) - saidAt).toBeGreaterThanOrEqual(6_000);
    });
  });
});

const CUSTOMER = /"Cliente Secreto F-(\d+)"/u;

/** The ordinals of the invoices that were POSTed, each once. */
function ordinalsOf(posts: readonly FrontRequest[]): ReadonlySet<number> {
  return new Set(posts.map(({ body }) => Number(CUSTOMER.exec(body)?.[1])));
}

describe('how much of a batch is sent at once', { concurrent: true }, () => {
  it('grows by another page once each invoice of a page was tried: a few that are put off again and again keep no other waiting', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '2' } }, async (stack) => {
      // One invoice of each page that may send at once.
      const putOff = new Set([1, 3, 5, 7]);
      stack.front.script = ({ method, path, body }) => {
        const ordinal = Number(CUSTOMER.exec(body)?.[1]);
        if (method !== 'POST' || path !== '/v1/invoices' || !putOff.has(ordinal)) return 'pass';
        return ordinalsOf(stack.posts()).size === 12 ? 'pass' : { status: 425 };
      };

      const result = await stack.run('put-off.csv', testInvoices(12));

      expect(result.counts).toMatchObject({ invoices: 12, issued: 12 });
      await expectAgreement(stack, result.batchId);
    });
  });
});
