import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pollTimes } from '../../src/domain/time/poll-times.ts';
import { expectAgreement } from '../support/crash/agreement.ts';
import { FAILING_TAX_CODE, testInvoices } from '../support/files/batch-file.ts';
import { withStack, type TestStack } from '../support/lote/stack.ts';
import { until } from '../support/until.ts';

const SECRET = 'whsec_of_the_test';

/** One delivery, signed as the service would; the answer's status. */
async function deliver(stack: TestStack, event: { type: string; id: string; secret?: string }): Promise<number> {
  const body = JSON.stringify({ id: `evt_${event.type}_${event.id}`, type: event.type, data: { id: event.id } });
  const signature = createHmac('sha256', event.secret ?? SECRET)
    .update(body)
    .digest('hex');
  const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
  const answer = await fetch(stack.webhookUrl, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

function asksOf(stack: TestStack, serviceId: string | null): readonly number[] {
  const { requests } = stack.front;
  return requests.filter(({ method, path }) => method === 'GET' && path.endsWith(`/${serviceId}`)).map(({ at }) => at);
}

/** Whole stacks side by side, each with settle times of its own. */
const TIMEOUT_MS = 240_000;

describe('settling', { concurrent: true, timeout: TIMEOUT_MS }, () => {
  it('goes on without signals: the page reads the ledger again by itself', async () => {
    await withStack({ signals: 'lost', sandbox: { settleMs: 600 } }, async (stack) => {
      const result = await stack.run('no-signals.csv', testInvoices(20));

      expect(result.counts).toMatchObject({ issued: 20 });
      expect(stack.log.join('')).not.toContain('"level":"error"');
      await expectAgreement(stack, result.batchId);
    });
  });

  it('goes on without webhooks: GET tells', async () => {
    const invoices = [...testInvoices(10), { ref: 'F-11', taxCode: FAILING_TAX_CODE }];
    await withStack({ webhooks: 'none', env: { LOTE_SETTLE_TIMEOUT: '8s' } }, async (stack) => {
      const result = await stack.run('no-webhooks.csv', invoices);

      expect(result.counts).toMatchObject({ issued: 10, failed: 1 });
      expect(stack.sandbox.books().totals.webhooks).toBe(0);
      await expectAgreement(stack, result.batchId);
    });
  });

  it('asks at the settled times for what stays silent, and then calls it unsettled', async () => {
    const settleMs = 6_000;
    const sandbox = { faults: { neverSettle: 1 } };
    await withStack({ sandbox, env: { LOTE_SETTLE_TIMEOUT: `${settleMs}ms` } }, async (stack) => {
      const result = await stack.run('silent.csv', testInvoices(4));

      expect(result.counts).toMatchObject({ unsettled: 4 });
      const times = pollTimes({ settleMs, everyMs: null });
      for (const line of await stack.lines(result.batchId)) {
        expect(line.reason?.code).toBe('no-final-answer');
        const asks = asksOf(stack, line.serviceId);
        expect(asks.length).toBeGreaterThan(0);
        expect(asks.length).toBeLessThanOrEqual(times.length);
        // The settle time starts with the acceptance, which is no earlier than the POST.
        for (const [at, ask] of asks.entries()) expect(ask - (line.sentAt ?? 0)).toBeGreaterThanOrEqual(times[at] ?? 0);
      }
      await expectAgreement(stack, result.batchId);
    });
  });

  it('asks each of many three times before it is called unsettled', async () => {
    const sandbox = { faults: { neverSettle: 1 } };
    await withStack({ sandbox, env: { LOTE_SETTLE_TIMEOUT: '6s' } }, async (stack) => {
      const result = await stack.run('slow-engine.csv', testInvoices(100));

      expect(result.counts).toMatchObject({ unsettled: 100 });
      const lines = await stack.lines(result.batchId);
      const asks = lines.map(({ serviceId }) => asksOf(stack, serviceId).length);
      // A machine so busy that a review comes late asks once for the times that have passed meanwhile.
      expect(asks.filter((count) => count === 0)).toEqual([]);
      expect(asks.filter((count) => count > pollTimes({ settleMs: 6_000, everyMs: null }).length)).toEqual([]);
    });
  });

  it('asks all, in growing numbers, when those asked first have a final word', async () => {
    await withStack({ webhooks: 'none', env: { LOTE_SETTLE_TIMEOUT: '60s' } }, async (stack) => {
      const result = await stack.run('many-without-webhooks.csv', testInvoices(150));

      expect(result.counts).toMatchObject({ issued: 150 });
      const lines = await stack.lines(result.batchId);
      // One question each, at the first of the times to ask.
      expect(new Set(lines.map(({ serviceId }) => asksOf(stack, serviceId).length))).toEqual(new Set([1]));
      await expectAgreement(stack, result.batchId);
    });
  });

  it('settles an unsettled invoice when its webhook comes after the batch has closed', async () => {
    const sandbox = { faults: { neverSettle: 1 } };
    await withStack({ sandbox, env: { LOTE_SETTLE_TIMEOUT: '1s', WEBHOOK_SECRET: SECRET } }, async (stack) => {
      const result = await stack.run('late.csv', testInvoices(2));
      const line = await stack.line(result.batchId, 'F-1');
      expect(line.state).toBe('unsettled');

      expect(await deliver(stack, { type: 'invoice.issued', id: line.serviceId ?? '' })).toBe(204);

      // 2xx says that it is stored; it is applied right after.
      await until(async () => (await stack.line(result.batchId, 'F-1')).state !== 'unsettled');
      expect(await stack.line(result.batchId, 'F-1')).toMatchObject({ state: 'issued', reason: null });
      expect(await stack.line(result.batchId, 'F-2')).toMatchObject({ state: 'unsettled' });
    });
  });

  it('lets issued win over failed, and flags it', async () => {
    await withStack({ webhooks: 'none', env: { LOTE_SETTLE_TIMEOUT: '2s', WEBHOOK_SECRET: SECRET } }, async (stack) => {
      let issued: string | null = null;
      stack.front.script = ({ method, path }) => {
        if (method !== 'GET' || !path.startsWith('/v1/invoices/')) return 'pass';
        const id = path.split('/').at(-1) ?? '';
        issued ??= id;
        return { status: 200, json: { id, status: id === issued ? 'issued' : 'failed' } };
      };
      const result = await stack.run('risen.csv', testInvoices(3));
      expect(result.counts).toMatchObject({ issued: 1, failed: 2 });
      const lines = await Promise.all(['F-1', 'F-2', 'F-3'].map((ref) => stack.line(result.batchId, ref)));
      const { ref = '', serviceId } = lines.find(({ state }) => state === 'failed') ?? {};

      expect(await deliver(stack, { type: 'invoice.issued', id: serviceId ?? '' }), 'it may be the profile').toBe(503);
      expect(await deliver(stack, { type: 'invoice.issued', id: issued ?? '' }), 'events and GET agree').toBe(204);
      expect(await deliver(stack, { type: 'invoice.issued', id: serviceId ?? '' })).toBe(204);

      await until(async () => (await stack.line(result.batchId, ref)).state !== 'failed');
      expect(await stack.line(result.batchId, ref)).toMatchObject({
        state: 'issued',
        flags: ['issued-after-failed'],
      });
    });
  });

  it('does not believe a failed event that GET contradicts', async () => {
    const sandbox = { faults: { contradictoryEvents: 1, webhookDropped: 1 } };
    await withStack({ sandbox, env: { LOTE_SETTLE_TIMEOUT: '8s', WEBHOOK_SECRET: SECRET } }, async (stack) => {
      const first = await stack.run('first.csv', testInvoices(1));
      const { serviceId } = await stack.line(first.batchId, 'F-1');
      expect(await deliver(stack, { type: 'invoice.issued', id: serviceId ?? '' }), 'events and GET agree').toBe(204);

      const result = await stack.run('contradicted.csv', testInvoices(10, {}, 2));

      expect(result.counts).toMatchObject({ issued: 10 });
      const flags = new Set((await stack.lines(result.batchId)).flatMap((line) => line.flags));
      expect(flags).toEqual(new Set(['issued-after-failed']));
      expect(stack.sandbox.books().totals).toMatchObject({ issued: 11, failed: 0 });
    });
  });

  it('believes a failed event when GET has no readable status', async () => {
    await withStack({ webhooks: 'none', env: { WEBHOOK_SECRET: SECRET } }, async (stack) => {
      stack.front.script = ({ method, path }) =>
        method === 'GET' && path.startsWith('/v1/invoices/') ? { status: 200, json: { nothing: true } } : 'pass';
      await stack.drop('unreadable.csv', testInvoices(1));
      const { batchId, handle } = await stack.start({ file: 'unreadable.csv' });
      await until(async () => (await stack.lines(batchId))[0]?.state === 'accepted');
      const { serviceId } = await stack.line(batchId, 'F-1');

      await deliver(stack, { type: 'invoice.failed', id: serviceId ?? '' });

      expect((await handle.result()).counts).toMatchObject({ failed: 1 });
    });
  });

  it('does not take an answer without an id for the word on an invoice, nor for the proof of its failure', async () => {
    const sandbox = { faults: { neverSettle: 1 } };
    const env = { LOTE_SETTLE_TIMEOUT: '4s', WEBHOOK_SECRET: SECRET };
    await withStack({ sandbox, webhooks: 'none', env }, async (stack) => {
      stack.front.script = ({ method, path }) =>
        method === 'GET' && path.startsWith('/v1/invoices/') ? { status: 200, json: { status: 'issued' } } : 'pass';
      await stack.drop('no-id.csv', testInvoices(2));
      const { batchId, handle } = await stack.start({ file: 'no-id.csv' });
      await until(async () => (await stack.lines(batchId)).filter(({ state }) => state === 'accepted').length === 2);
      const { serviceId } = await stack.line(batchId, 'F-1');

      await deliver(stack, { type: 'invoice.failed', id: serviceId ?? '' });

      expect((await handle.result()).counts).toMatchObject({ unsettled: 2 });
      expect(asksOf(stack, serviceId).length).toBeGreaterThan(0);
    });
  });

  it('waits on a failed event while GET says that it is still processing', async () => {
    const sandbox = { faults: { neverSettle: 1 } };
    await withStack({ sandbox, env: { LOTE_SETTLE_TIMEOUT: '4s', WEBHOOK_SECRET: SECRET } }, async (stack) => {
      await stack.drop('not-yet.csv', testInvoices(1));
      const { batchId, handle } = await stack.start({ file: 'not-yet.csv' });
      await until(async () => (await stack.lines(batchId))[0]?.state === 'accepted');
      const { serviceId } = await stack.line(batchId, 'F-1');

      await deliver(stack, { type: 'invoice.failed', id: serviceId ?? '' });

      expect((await handle.result()).counts).toMatchObject({ unsettled: 1 });
      expect(asksOf(stack, serviceId).length).toBeGreaterThan(0);
    });
  });

  it('takes webhooks as they come: early, twice, out of order, late, forged, of strangers', async () => {
    const faults = {
      webhookEarly: 0.4,
      webhookDuplicated: 0.5,
      webhookReordered: 0.5,
      reorderMs: 300,
      webhookLate: 0.2,
      lateMs: 800,
      webhookForged: 0.4,
      webhookStray: 0.3,
    };
    await withStack({ sandbox: { faults, seed: 'webhooks' } }, async (stack) => {
      const result = await stack.run('webhooks.csv', [...testInvoices(60), { ref: 'F-61', taxCode: FAILING_TAX_CODE }]);

      expect(result.counts).toMatchObject({ issued: 60, failed: 1 });
      await expectAgreement(stack, result.batchId);
    });
  });

  it('refuses a delivery with a wrong signature, or without a secret to check it by', async () => {
    await withStack({ webhooks: 'none' }, async (stack) => {
      expect(await deliver(stack, { type: 'invoice.issued', id: 'inv_1' })).toBe(401);
    });
    await withStack({ webhooks: 'none', env: { WEBHOOK_SECRET: SECRET } }, async (stack) => {
      expect(await deliver(stack, { type: 'invoice.issued', id: 'inv_1', secret: 'another' })).toBe(401);
      expect(await deliver(stack, { type: 'invoice.issued', id: 'inv_1' })).toBe(204);
    });
  });

  it('registers the webhook once, and takes the secret of the registration as well as its own', async () => {
    await withStack({ env: { WEBHOOK_SECRET: SECRET } }, async (stack) => {
      await stack.run('one.csv', testInvoices(3));
      await stack.run('two.csv', testInvoices(3, {}, 4));

      const registrations = stack.front.requests.filter(({ path }) => path === '/v1/webhooks');
      expect(registrations).toHaveLength(1);
      expect(JSON.parse(registrations[0]?.body ?? '{}')).toMatchObject({ url: stack.webhookUrl });
      expect(await deliver(stack, { type: 'invoice.issued', id: 'inv_1' })).toBe(204);
    });
  });
});
