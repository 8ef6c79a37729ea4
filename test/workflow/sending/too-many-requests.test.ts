import { describe, expect, it } from 'vitest';
import { expectAgreement, withStack } from '../../support/lote/stack.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import type { FrontAction, FrontScript } from '../../support/servers/service-front.ts';

const INVOICES = 250;
/** Requests a second that the service takes; its profile does not say so. */
const LIMIT = 10;
/** The first ones that go side by side come to the service together, however slow the machine is: more than it takes in their second. */
const TOGETHER = 24;
const ONE_BY_ONE = 20;
const LONGEST_WAIT_MS = 30_000;
/** When the first refusal is read, at most the 64 requests of `limits.maxConcurrency` are on the wire; the rate is halved at the sixth. */
const MOST_REFUSED = 64 + 6;

describe('a service with a limit that its profile does not name', () => {
  it.each([1, 0] as const)(
    'is sent to as fast as it takes, with a Retry-After of %d s: few answers of 429, none twice',
    async (retryAfterSeconds) => {
      const faults = { requestsPerSecond: LIMIT, retryAfterSeconds };
      await withStack({ sandbox: { faults }, env: { LOTE_PAGE_SIZE: '400' } }, async (stack) => {
        stack.front.script = together();
        const result = await stack.run('too-many.csv', testInvoices(INVOICES));

        expect(result.counts).toMatchObject({ issued: INVOICES });
        expect(stack.sandbox.books().totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
        expect(stack.sandbox.books().duplicates).toEqual([]);
        await expectAgreement(stack, result.batchId);
        // Every POST is answered: one more than there are invoices is one that got a 429.
        const tooMany = stack.posts().length - INVOICES;
        expect(tooMany, 'it has met the limit').toBeGreaterThan(0);
        expect(tooMany, 'answers of 429').toBeLessThanOrEqual(MOST_REFUSED);
      });
    },
  );
});

/** Keeps the POSTs back that follow the first invoices of the batch until some have come, and lets them go at once. */
function together(): FrontScript {
  let posts = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return async ({ method, path }): Promise<FrontAction> => {
    if (method !== 'POST' || path !== '/v1/invoices') return 'pass';
    posts += 1;
    if (posts === ONE_BY_ONE + 1) setTimeout(release, LONGEST_WAIT_MS).unref();
    if (posts === ONE_BY_ONE + TOGETHER) release();
    if (posts > ONE_BY_ONE) await released;
    return 'pass';
  };
}
