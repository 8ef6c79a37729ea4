import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConfirmTotalInput } from '../../../src/domain/messages/messages.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import {
  expectAgreement,
  replay,
  withStack,
  type TestStack,
  retry,
  startNight,
  filesOf,
  stop,
} from '../../support/lote/stack.ts';
import { testInvoices, type TestInvoice } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';

const QUICK: StackOptions = { env: { LOTE_DROP_STABLE_FOR: '5ms' } };
const WEEK = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'];
/** Eleven times what is usual, of a merchant that no file had before. */
const UNUSUAL = testInvoices(22, { nif: '502757191' }, 1_000);

/** Five files of two invoices, sent side by side and taken away; the ids of their batches. */
function usualWeek(stack: TestStack): Promise<readonly string[]> {
  return Promise.all(
    WEEK.map(async (date, day) => {
      const name = `may_${date}.csv`;
      const { batchId } = await stack.run(name, testInvoices(2, {}, 1 + 10 * day));
      await rm(join(stack.config.inputDir, name));
      return batchId;
    }),
  );
}

async function startUnusual(stack: TestStack, content: readonly TestInvoice[] = UNUSUAL) {
  const started = await stack.begin('may_20261123.csv', content);
  await untilHeld(stack, started.handle);
  return started;
}

async function untilHeld(stack: TestStack, handle: BatchHandle): Promise<void> {
  await until(async () => (await stack.progress(handle)).phase === 'confirming');
}

function confirm(handle: BatchHandle, input: Partial<ConfirmTotalInput>): Promise<string> {
  return handle.executeUpdate<string, [Partial<ConfirmTotalInput>]>('confirmTotal', { args: [input] });
}

function created({ front }: TestStack): number {
  return front.requests.filter(({ method }) => method === 'POST').length;
}

async function statesOf(stack: TestStack, batchId: string): Promise<ReadonlySet<string>> {
  return new Set((await stack.lines(batchId)).map(({ state }) => state));
}

describe('a file of eleven times the usual number of invoices', { concurrent: true }, () => {
  it('is held before anything leaves, says why, and goes when an operator has confirmed its number', async () => {
    await withStack(QUICK, async (stack) => {
      const week = await usualWeek(stack);
      const before = created(stack);
      const { batchId, handle } = await startUnusual(stack);

      const progress = await stack.progress(handle);
      expect(progress).toMatchObject({ waitingFor: 'total-unusual', counts: { held: 22 }, unusual: { invoices: 22 } });
      expect(progress.unusual?.difference).toBe(
        'The total differs by more than 5 times from the last 5 files named may_#.csv: 22 invoices, usually 2; net EUR 451, usually 41.',
      );
      const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      expect(currentDetails).toContain('confirmTotal with `{"invoices": 22,');
      expect((await stack.lines(batchId))[0]?.reason).toMatchObject({ code: 'total-unusual' });
      expect(await stack.ledger.totalCheck(batchId)).toMatchObject({ check: { kind: 'unusual' }, confirmedAt: null });
      expect(created(stack)).toBe(before);

      expect(await confirm(handle, { invoices: 22, reason: 'the end of the year' })).toContain('Confirmed');
      const result = await handle.result();

      expect(result.counts).toMatchObject({ issued: 22 });
      expect(await stack.ledger.auditOf(batchId)).toMatchObject([
        { what: 'confirm-total', why: 'the end of the year' },
      ]);
      await expectAgreement(stack, ...week, batchId);
      await replay(stack, batchId);
    });
  });

  it('stays held after a wrong number, or one without a reason, and is asked about again when its run was ended', async () => {
    await withStack(QUICK, async (stack) => {
      await usualWeek(stack);
      const before = created(stack);
      const first = await startUnusual(stack);

      await expect(confirm(first.handle, { invoices: 2, reason: 'as always' })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('that of the file, 22; found 2') as string },
      });
      await expect(confirm(first.handle, { invoices: 22 })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('A reason is needed') as string },
      });
      expect(await statesOf(stack, first.batchId)).toEqual(new Set(['held']));

      await stack.client.workflow.getHandle(first.batchId).terminate('test');
      const second = await startUnusual(stack);
      await stop(second.handle, 'cancelRemaining', { reason: 'to be looked at' });
      expect(await second.handle.result()).toMatchObject({ state: 'cancelled', counts: { held: 22 } });
      const third = await startUnusual(stack);
      expect(await statesOf(stack, third.batchId)).toEqual(new Set(['held']));
      expect(created(stack)).toBe(before);

      await confirm(third.handle, { invoices: 22, reason: 'looked at' });

      expect((await third.handle.result()).counts).toMatchObject({ issued: 22 });
    });
  });

  it('is not sent by a retry, nor once a part of it went out in another file, until its total is confirmed', async () => {
    await withStack(QUICK, async (stack) => {
      const week = await usualWeek(stack);
      const before = created(stack);
      const first = await startUnusual(stack);
      await stack.client.workflow.getHandle(first.batchId).terminate('test');

      const states = ['failed', 'rejected', 'held'] as const;
      const refused = await retry(stack, { batch: first.batchId, states, reason: 'the run was lost' });
      expect(refused).toMatchObject({ retried: { moved: 0, refused: { 'total-unconfirmed': 22 } } });
      expect(created(stack)).toBe(before);
      expect(await statesOf(stack, first.batchId)).toEqual(new Set(['held']));

      // Three of its invoices come in a file of their own, with the same content.
      const part = await stack.run('part.csv', UNUSUAL.slice(0, 3));
      expect(part.counts).toMatchObject({ issued: 3 });
      const sent = created(stack);
      const second = await startUnusual(stack);
      expect(second.batchId).toBe(first.batchId);
      const held = (await stack.lines(first.batchId)).filter(({ state }) => state === 'held');
      expect(held).toHaveLength(19);
      expect(held[0]?.reason?.message).toContain('No invoice that is held for that was sent.');
      expect(created(stack)).toBe(sent);

      await confirm(second.handle, { invoices: 22, reason: 'looked at' });
      await second.handle.result();
      expect(await statesOf(stack, first.batchId)).toEqual(new Set(['issued']));
      await expectAgreement(stack, ...week, first.batchId, part.batchId);
    });
  });

  it('does not keep its night waiting: the night ends, its page says what to do, and the batch goes later', async () => {
    await withStack(QUICK, async (stack) => {
      await usualWeek(stack);
      const before = created(stack);
      await stack.drop('may_20261123.csv', UNUSUAL);
      await stack.drop('june.csv', testInvoices(1, {}, 500));

      const first = await startNight(stack);
      const night = await first.result();

      expect(night).toMatchObject({ files: 2, problems: 1 });
      const file = (await filesOf(night)).find(({ name }) => name === 'may_20261123.csv');
      expect(file).toMatchObject({ verdict: 'attention', waitsFor: 'total-unusual', invoices: 22, issued: 0 });
      expect(await readFile(night.reports.html, 'utf8')).toContain(`lote confirm-total ${file?.batchId} --invoices 22`);
      expect(await readdir(join(stack.config.inputDir, 'in-progress')).catch(() => [])).toEqual([]);
      expect(created(stack)).toBe(before + 1);

      // The same bytes, dropped again: a run beside it waits for the batch, and its night does not.
      await stack.drop('may_20261124.csv', UNUSUAL);
      expect(await (await startNight(stack)).result()).toMatchObject({ files: 1, problems: 1 });

      const handle = stack.client.workflow.getHandle(file?.batchId ?? '') as BatchHandle;
      await confirm(handle, { invoices: 22, reason: 'seen in the morning' });
      expect((await handle.result()).counts).toMatchObject({ issued: 22 });
      await replay(stack, first.workflowId);
    });
  });
});
