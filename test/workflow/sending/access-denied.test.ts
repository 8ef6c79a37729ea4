import { describe, expect, it } from 'vitest';
import { expectAgreement, withStack } from '../../support/lote/stack.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { isInvoice } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';

/** They come after 5 s and 10 s, and the next one after 20 s. */
const REFUSED_PROBES = 2;
/** From the first refusal to the first probe pass 5 s; until then only what had left already comes, on a busy machine late. */
const ON_THE_WIRE_MS = 3_000;

describe('a service that denies access', { concurrent: true }, () => {
  it.each([
    [401, 'http-401'],
    [403, 'http-403'],
    [307, 'redirect'],
  ])(
    'with %i in the middle of a batch: it waits, says why, fails nothing, and goes on afterwards',
    async (status, why) => {
      await withStack({ env: { LOTE_PAGE_SIZE: '20' }, profile: { limits: { maxConcurrency: 4 } } }, async (stack) => {
        let broken = false;
        stack.front.script = (request) => {
          if (!isInvoice(request)) return 'pass';
          broken ||= stack.posts().length > 12;
          return broken ? { status, headers: { location: 'http://127.0.0.1:9/elsewhere' } } : 'pass';
        };
        const { batchId, handle } = await stack.begin('denied.csv', testInvoices(60));

        await until(async () => (await stack.progress(handle)).waitingFor === why);
        const during = await stack.lines(batchId);
        expect(during.filter(({ state }) => ['failed', 'rejected', 'unknown', 'held'].includes(state))).toEqual([]);
        stack.front.script = () => 'pass';
        const result = await handle.result();

        expect(result.counts).toMatchObject({ invoices: 60, issued: 60 });
        expect((await stack.progress(handle)).waitingFor).toBeNull();
        await expectAgreement(stack, batchId);
      });
    },
  );

  it('is tried by one invoice at a time, of all slices and pages, until it opens', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '10' }, profile: { limits: { maxConcurrency: 4 } } }, async (stack) => {
      let probes = 0;
      let open = 0;
      let most = 0;
      let refusedAt = Infinity;
      stack.front.script = async (request) => {
        // Until the first answers are known to be readable, one goes at a time anyway.
        const isEarly = stack.posts().length <= 8;
        if (!isInvoice(request) || isEarly || probes >= REFUSED_PROBES) return 'pass';
        // What was on the wire when the breaker opened may come together, and may be looked at when it has opened; nothing may that comes later.
        const breaker = await stack.ledger.breaker(stack.front.url);
        const isLater = request.at > refusedAt + ON_THE_WIRE_MS;
        const probe = breaker !== null && (breaker.probingUntil !== null || isLater) ? 1 : 0;
        probes += probe;
        open += probe;
        most = Math.max(most, open);
        await new Promise((resolve) => setTimeout(resolve, 50));
        open -= probe;
        refusedAt = Math.min(refusedAt, Date.now());
        return { status: 401 };
      };

      const result = await stack.run('probe.csv', testInvoices(40));

      expect(result.counts).toMatchObject({ issued: 40 });
      expect(probes).toBe(REFUSED_PROBES);
      expect(most).toBe(1);
    });
  });

  it('for longer than the patience: what was not sent is held, by every page, and goes when the file is dropped again', async () => {
    // Probes go 5 s and 15 s after the first refusal: the second run must live to see one, however late on a busy machine the first run ends.
    const env = { LOTE_PAGE_SIZE: '10', LOTE_OUTAGE_PATIENCE: '8s' };
    await withStack({ env, profile: { limits: { maxConcurrency: 2 } } }, async (stack) => {
      stack.front.script = (request) => (isInvoice(request) ? { status: 401 } : 'pass');
      const first = await stack.run('patience.csv', testInvoices(120));

      const others = (await stack.lines(first.batchId)).filter(({ state }) => state !== 'held');
      expect(others.map(({ state, reason, attempts }) => [state, reason, attempts])).toEqual([]);
      expect(first.counts).toMatchObject({ invoices: 120, held: 120 });
      expect(first.pagesFailed).toBe(0);
      const reasons = new Set((await stack.lines(first.batchId)).map(({ reason }) => reason?.code));
      expect(reasons).toEqual(new Set(['service-away']));
      expect(stack.sandbox.books().totals.invoices).toBe(0);

      stack.front.script = () => 'pass';
      const { handle } = await stack.start({ file: 'patience.csv' });
      const second = await handle.result();

      expect(second.batchId).toBe(first.batchId);
      expect(second.counts).toMatchObject({ issued: 120 });
      await expectAgreement(stack, first.batchId);
    });
  });

  it('after answers that were lost: only what may have arrived is unknown', async () => {
    const env = { LOTE_OUTAGE_PATIENCE: '3s' };
    await withStack({ env, profile: { limits: { maxConcurrency: 1 } } }, async (stack) => {
      stack.front.script = (request) => {
        if (!isInvoice(request)) return 'pass';
        return stack.posts().length === 1 ? 'pass-and-cut' : { status: 401 };
      };

      const result = await stack.run('one-lost.csv', testInvoices(8));

      expect(result.counts).toMatchObject({ unknown: 1, held: 7 });
      await expectAgreement(stack, result.batchId);
    });
  });

  it('but answers 303 to a POST that worked: what was redirected is unknown, never held, and is found again without a second one', async () => {
    const env = { LOTE_OUTAGE_PATIENCE: '3s' };
    await withStack({ env, profile: { limits: { maxConcurrency: 1 } } }, async (stack) => {
      const elsewhere = { status: 303, headers: { location: 'https://elsewhere.example/v1/invoices/1' } };
      stack.front.script = (request) => (isInvoice(request) ? { ...elsewhere, afterPassing: true } : 'pass');

      const result = await stack.run('see-other.csv', testInvoices(8));

      const created = stack.sandbox.books().totals.invoices;
      expect(created).toBeGreaterThan(0);
      expect(result.counts).toMatchObject({ unknown: created, held: 8 - created });
      await expectAgreement(stack, result.batchId);

      stack.front.script = () => 'pass';
      expect(await stack.reconcile()).toMatchObject({ found: created });
      await expectAgreement(stack, result.batchId);
      expect(stack.sandbox.books().totals.invoices).toBe(created);
    });
  });

  it('as an outage of every answer opens the breaker too', async () => {
    // The first 20 answers, which open it, take less than the send time, also on a busy machine; the outage takes twice as long.
    await withStack({ env: { LOTE_SEND_TIMEOUT: '8s' } }, async (stack) => {
      const outageMs = 16_000;
      stack.front.script = (request) =>
        isInvoice(request) && Date.now() - (stack.posts()[0]?.at ?? Date.now()) < outageMs ? { status: 503 } : 'pass';

      const result = await stack.run('outage.csv', testInvoices(60));

      // The outage was longer than the send time; it does not count.
      expect(result.counts).toMatchObject({ issued: 60 });
      await expectAgreement(stack, result.batchId);
    });
  });

  it('because its name is not known: nothing leaves, nothing fails, everything is held when the patience is over', async () => {
    const env = { INVOICING_BASE_URL: 'https://lote-no-such-host.invalid', LOTE_OUTAGE_PATIENCE: '3s' };
    await withStack({ env, webhooks: 'none' }, async (stack) => {
      const result = await stack.run('no-name.csv', testInvoices(5));

      expect(result.counts).toMatchObject({ held: 5 });
      for (const { state, attempts } of await stack.lines(result.batchId))
        expect([state, attempts]).toEqual(['held', 0]);
    });
  });
});
