import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pollTimes } from '../../src/domain/time/poll-times.ts';
import { expectAgreement, withStack, type TestStack } from '../support/lote/stack.ts';
import { FAILING_TAX_CODE, testInvoices } from '../support/files/batch-file.ts';
import type { FrontAction } from '../support/servers/service-front.ts';
import { until } from '../support/until.ts';
import { readFile } from 'node:fs/promises';

const SECRET = 'whsec_of_the_test';

/** One delivery, signed as the service would; the answer's status. */
async function deliverBytes({ webhookUrl }: TestStack, body: string, secret = SECRET): Promise<number> {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
  const answer = await fetch(webhookUrl, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

function deliver(stack: TestStack, event: { type: string; id: string; secret?: string }): Promise<number> {
  const { type, id, secret } = event;
  return deliverBytes(stack, JSON.stringify({ id: `evt_${type}_${id}`, type, data: { id } }), secret);
}

function asksOf(stack: TestStack, serviceId: string | null): readonly number[] {
  const { requests } = stack.front;
  return requests.filter(({ method, path }) => method === 'GET' && path.endsWith(`/${serviceId}`)).map(({ at }) => at);
}

describe('settling', { concurrent: true }, () => {
  it('goes on without signals: the page reads the ledger again by itself', async () => {
    await withStack({ signals: 'lost', sandbox: { settleMs: 600 } }, async (stack) => {
      const result = await stack.run('no-signals.csv', testInvoices(20));

      expect(result.counts).toMatchObject({ issued: 20 });
      expect(stack.log.join('')).not.toContain('"level":"error"');
      await expectAgreement(stack, result.batchId);
    });
  });

  it('asks at the settled times for what stays silent, and then calls it unsettled', async () => {
    const settleMs = 6_000;
    const sandbox = { faults: { neverSettle: 1 } };
    await withStack({ sandbox, env: { LOTE_SETTLE_TIMEOUT: `${settleMs}ms` } }, async (stack) => {
      const result = await stack.run('silent.csv', testInvoices(100));

      expect(result.counts).toMatchObject({ unsettled: 100 });
      const times = pollTimes({ settleMs, everyMs: null });
      for (const line of await stack.lines(result.batchId)) {
        expect(line.reason?.code).toBe('no-final-answer');
        const asks = asksOf(stack, line.serviceId);
        // A machine so busy that a review comes late asks once for the times that have passed meanwhile.
        expect(asks.length).toBeGreaterThan(0);
        expect(asks.length).toBeLessThanOrEqual(times.length);
        // The settle time starts with the acceptance, which is no earlier than the POST.
        for (const [at, ask] of asks.entries()) expect(ask - (line.sentAt ?? 0)).toBeGreaterThanOrEqual(times[at] ?? 0);
      }
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
    const env = { LOTE_SETTLE_TIMEOUT: '30s', WEBHOOK_SECRET: SECRET };
    await withStack({ isProved: false, webhooks: 'none', env }, async (stack) => {
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
    await withStack({ sandbox, env: { LOTE_SETTLE_TIMEOUT: '30s', WEBHOOK_SECRET: SECRET } }, async (stack) => {
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

  it.each([
    ['is believed when GET has no readable status', { nothing: true }, '10m', { failed: 1 }],
    ['is not proved by an answer without an id', { status: 'issued' }, '15s', { unsettled: 1 }],
    ['is waited on while GET says that it is still processing', null, '15s', { unsettled: 1 }],
  ] as const)('a failed event %s', async (_, shown, LOTE_SETTLE_TIMEOUT, counts) => {
    const sandbox = { faults: { neverSettle: 1 } };
    const env = { LOTE_SETTLE_TIMEOUT, WEBHOOK_SECRET: SECRET };
    await withStack({ sandbox, webhooks: 'none', env }, async (stack) => {
      stack.front.script = ({ method, path }) =>
        shown !== null && method === 'GET' && path.startsWith('/v1/invoices/') ? { status: 200, json: shown } : 'pass';
      const { batchId, handle } = await stack.begin('failed-event.csv', testInvoices(1));
      await until(async () => (await stack.lines(batchId))[0]?.state === 'accepted');
      const { serviceId } = await stack.line(batchId, 'F-1');

      await deliver(stack, { type: 'invoice.failed', id: serviceId ?? '' });

      expect((await handle.result()).counts).toMatchObject(counts);
      expect(asksOf(stack, serviceId).length).toBeGreaterThan(0);
    });
  });

  it('takes webhooks as they come: early, twice, out of order, late, forged, of strangers', async () => {
    const faults = {
      webhookEarly: 0.4,
      webhookDuplicated: 0.5,
      webhookLate: 0.5,
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

  it('stores webhooks that nobody can use, answers 2xx, and the report of the batch has them as alerts', async () => {
    await withStack({ env: { WEBHOOK_SECRET: SECRET } }, async (stack) => {
      const answers: Promise<number>[] = [];
      stack.front.script = async ({ method, path }): Promise<FrontAction> => {
        if (method !== 'POST' || path !== '/v1/invoices' || answers.length > 0) return 'pass';
        answers.push(deliverBytes(stack, 'neither JSON nor an event'));
        answers.push(deliver(stack, { type: 'invoice.issued', id: 'inv_of_a_stranger' }));
        answers.push(deliverBytes(stack, '{"id":"evt_2","type":"merchant.renamed","data":{}}'));
        await Promise.all(answers);
        return 'pass';
      };

      const { batchId, counts, reports } = await stack.run('strange.csv', testInvoices(4));

      expect(await Promise.all(answers)).toEqual([204, 204, 204]);
      expect(counts).toMatchObject({ issued: 4 });
      const { notes } = JSON.parse(await readFile(reports.json, 'utf8')) as { notes: readonly string[] };
      expect(notes).toEqual([
        expect.stringMatching(/^Alert: 1 webhook with a right signature could not be read/),
        expect.stringMatching(
          /^Alert: 1 webhook since this batch began told of invoices that this ledger does not know/,
        ),
      ]);
      expect(await readFile(reports.html, 'utf8')).toContain('could not be read since this batch began');
      await expectAgreement(stack, batchId);
    });
  });

  it('registers the webhook once, takes the secret of the registration as well as its own, and refuses others', async () => {
    await withStack({ env: { WEBHOOK_SECRET: SECRET } }, async (stack) => {
      await stack.run('one.csv', testInvoices(3));
      await stack.run('two.csv', testInvoices(3, {}, 4));

      const registrations = stack.front.requests.filter(({ path }) => path === '/v1/webhooks');
      expect(registrations).toHaveLength(1);
      expect(JSON.parse(registrations[0]?.body ?? '{}')).toMatchObject({ url: stack.webhookUrl });
      expect(await deliver(stack, { type: 'invoice.issued', id: 'inv_1', secret: 'another' })).toBe(401);
      expect(await deliver(stack, { type: 'invoice.issued', id: 'inv_1' })).toBe(204);
    });
    await withStack({ webhooks: 'none' }, async (stack) => {
      expect(await deliver(stack, { type: 'invoice.issued', id: 'inv_1' }), 'no secret to check it by').toBe(401);
    });
  });
});
