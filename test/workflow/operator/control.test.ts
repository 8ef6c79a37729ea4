import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../../support/crash/agreement.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { gatedEngine } from '../../support/crash/gated-engine.ts';
import { withStack, type TestStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import type { ActorInput } from '../../../src/contract/messages.ts';
import type { BatchHandle } from '../../../src/wiring/temporal/batch-starter.ts';

/** Pages, of which few are under way at once; all of them take 4 s. */
const INVOICES = 80;
const SLOW = {
  profile: { limits: { maxConcurrency: 2 } },
  sandbox: { latencyMs: 100 },
  env: { LOTE_PAGE_SIZE: '10' },
} as const;

type Reason = [{ reason: string }];

function operate(handle: BatchHandle, update: 'pause' | 'cancelRemaining', reason = 'test'): Promise<string> {
  return handle.executeUpdate<string, Reason>(update, { args: [{ reason }] });
}

async function sendingBatch(stack: TestStack, invoices: number) {
  await stack.drop('operated.csv', testInvoices(invoices));
  const started = await stack.start({ file: 'operated.csv' });
  await until(() => stack.posts().length > 3);
  return started;
}

/** What is on the wire ends: then the number of requests stands still while the batch says that it is paused. */
async function quiet(stack: TestStack): Promise<number> {
  let before = -1;
  await until(async () => {
    if (before === stack.posts().length) return true;
    before = stack.posts().length;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return false;
  });
  return before;
}

describe('an operator', { concurrent: true, timeout: 180_000 }, () => {
  it('pauses a batch, which sends nothing more, and resumes it', async () => {
    await withStack(SLOW, async (stack) => {
      const { batchId, handle } = await sendingBatch(stack, INVOICES);

      expect(await operate(handle, 'pause')).toContain('Paused');
      expect(await stack.progress(handle)).toMatchObject({ paused: true });
      const sent = await quiet(stack);
      expect(sent).toBeLessThan(INVOICES);
      expect(await handle.executeUpdate<string, [ActorInput]>('resume', { args: [{ who: 'ana' }] })).toContain(
        'Resumed',
      );
      const result = await handle.result();

      expect(result.counts).toMatchObject({ issued: INVOICES });
      const audit = await stack.ledger.auditOf(batchId);
      expect(audit.map(({ what, who }) => [what, who])).toContainEqual(['resume', 'ana']);
      await expectAgreement(stack, batchId);
    });
  });

  it('cancels the rest of a paused batch: what is not sent is held, and goes when the file is dropped again', async () => {
    await withStack(SLOW, async (stack) => {
      const { batchId, handle } = await sendingBatch(stack, INVOICES);
      await operate(handle, 'pause');

      await operate(handle, 'cancelRemaining');
      const result = await handle.result();

      const { issued = 0, held = 0 } = result.counts;
      expect(result.state).toBe('cancelled');
      expect(issued + held).toBe(INVOICES);
      expect(held).toBeGreaterThan(0);
      expect(issued).toBe(stack.sandbox.books().totals.invoices);
      const reasons = (await stack.lines(batchId))
        .filter(({ state }) => state === 'held')
        .map(({ reason }) => reason?.code);
      expect(new Set(reasons)).toEqual(new Set(['batch-cancelled']));
      const again = await (await stack.start({ file: 'operated.csv' })).handle.result();
      expect(again).toMatchObject({ batchId, state: 'finished', counts: { issued: INVOICES } });
      await expectAgreement(stack, batchId);
    });
  });

  it('pauses before the merchants: none is created until the batch goes on', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = ({ path }) => (path.startsWith('/v1/merchants') ? { status: 503 } : 'pass');
      await stack.drop('early.csv', testInvoices(3));
      const { handle } = await stack.start({ file: 'early.csv' });
      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      await operate(handle, 'pause');
      stack.front.script = () => 'pass';
      const looks = stack.front.requests.length;
      await new Promise((resolve) => setTimeout(resolve, 3_000));

      // One look may have been on its way.
      expect(stack.front.requests.length).toBeLessThanOrEqual(looks + 1);
      expect(stack.sandbox.books().totals.merchants).toBe(0);
      await handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: 3 });
    });
  });

  it('resumes a batch that waits for the service at once: nobody waits for the end of a long wait', async () => {
    await withStack({}, async (stack) => {
      const baseUrl = stack.front.url;
      const reason = { code: 'http-503', message: 'HTTP 503' };
      // As far away as a clock that runs ahead may write it: beyond, the time counts as come.
      const probeAfter = Date.now() + 175_000;
      await stack.ledger.openBreaker({ baseUrl, reason, openedAt: Date.now(), probeAfter });
      await stack.drop('waits.csv', testInvoices(200));
      const { handle } = await stack.start({ file: 'waits.csv' });
      await until(async () => (await stack.progress(handle)).waitingFor === 'http-503');
      await operate(handle, 'pause');
      await stack.ledger.closeBreaker(baseUrl);

      await handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: 200 });
      const waited = stack.posts().filter(({ at }) => at >= probeAfter);
      expect(waited, 'invoices that went only when the breaker was to be probed').toEqual([]);
    });
  });

  it('must give a reason: whatever else is sent is refused, without a path of the sources in the message', async () => {
    const gate = gatedEngine();
    await withStack({ ...SLOW, sandbox: { ...SLOW.sandbox, engine: gate.engine } }, async (stack) => {
      const { handle } = await sendingBatch(stack, 20);

      for (const input of [undefined, null, {}, { reason: '' }, { reason: '  ' }, { reason: 4 }, 'because']) {
        for (const update of ['pause', 'cancelRemaining']) {
          const refused = handle.executeUpdate<string, [unknown]>(update, { args: [input] });
          await expect(refused, `${update} with ${JSON.stringify(input)}`).rejects.toMatchObject({
            cause: { type: 'input-invalid', message: 'A reason is needed: {"reason": "why"}' },
          });
        }
      }
      gate.open();

      expect((await handle.result()).counts).toMatchObject({ issued: 20 });
    });
  });
});
