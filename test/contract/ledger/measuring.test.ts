import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import { postgresUrl } from '../../support/servers/postgres-schema.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';
import { accepted, createScenario, delivery, NOW, REASON, serviceIdOf, type OpenLedger } from './scenario.ts';
import { sharedLedger, sharedPostgresLedger } from './shared-ledger.ts';

const url = postgresUrl();

function measuringContract(open: OpenLedger): void {
  let ledger: Ledger;
  beforeAll(async () => {
    ledger = await open();
  });

  it('are the invoices of a batch by the states of its report, and since when the oldest waits', async () => {
    const scenario = createScenario(ledger);
    const batch = await scenario.run([{ ref: 'A' }, { ref: 'B' }, { ref: 'C' }, { ref: 'D' }]);
    await batch.send('A', accepted(serviceIdOf(scenario, 'a')), { sentAt: NOW - 60_000 });
    await batch.send('B', { kind: 'rejected', reason: REASON });
    await batch.send('C', accepted(serviceIdOf(scenario, 'c')));
    await ledger.recordDeliveries([delivery(serviceIdOf(scenario, 'c'), 'issued', { receivedAt: NOW + 5_000 })]);

    const states = await ledger.measureInvoices(batch.batchId);
    const ordinals = [1, 2, 3, 4].map((ordinal) => ({ batchId: batch.batchId, ordinal }));

    expect(states.toSorted((a, b) => a.state.localeCompare(b.state))).toEqual([
      { state: 'accepted', invoices: 1, oldestAt: NOW - 60_000 },
      { state: 'issued', invoices: 1, oldestAt: null },
      { state: 'rejected', invoices: 1, oldestAt: null },
      { state: 'staged', invoices: 1, oldestAt: null },
    ]);
    expect(await ledger.measureLag(ordinals)).toEqual([{ state: 'issued', ms: 5_000 }]);
  });

  it('say how long an invoice waits that may have been sent, also after its reason says that its window is over', async () => {
    const scenario = createScenario(ledger);
    const batch = await scenario.run([{ ref: 'lost' }]);
    await batch.freeze('lost');
    await ledger.closeBatch(batch.batchId, { reason: REASON, now: NOW + 1_000 });
    await batch.finish();
    await ledger.noteReported(batch.batchId, { revision: 1, writtenAt: NOW, flags: 0, open: await batch.lines() });
    const waiting = [{ state: 'unknown', invoices: 1, oldestAt: NOW + 1_000 }];
    expect(await ledger.measureInvoices(batch.batchId)).toEqual(waiting);

    const over = { code: 'retention-window-over', message: 'over' };
    const end = { application: scenario.application, now: NOW + 9_000, reason: over, messageAhead: 'ahead' };
    expect(await ledger.endRepeats({ ...end, frozenUntil: NOW })).toBe(1);

    expect(await ledger.measureInvoices(batch.batchId)).toEqual(waiting);
  });

  it('are of the open batches, of those that closed lately, and of one application', async () => {
    const scenario = createScenario(ledger);
    const stranger = createScenario(ledger);
    const closed = await scenario.run([{ ref: 'A' }]);
    await closed.finish();
    const open = await scenario.run([{ ref: 'B' }]);
    await stranger.run([{ ref: 'A' }]);
    const { finishedAt } = await closed.record();
    const measured = async (closedSince: number, limit = 10): Promise<readonly string[]> =>
      (await ledger.measuredBatches(scenario.application, { closedSince, heldSince: closedSince, limit })).map(
        ({ batchId }) => batchId,
      );

    expect(await ledger.countBatches(scenario.application)).toEqual({ finished: 1, running: 1 });
    expect(await measured(finishedAt ?? 0)).toEqual([open.batchId, closed.batchId]);
    expect(await measured((finishedAt ?? 0) + 1)).toEqual([open.batchId]);
    expect(await measured(0, 1)).toEqual([open.batchId]);
  });

  it('are of batches that left invoices held or without a final word before those at rest, and of held ones for a while', async () => {
    const scenario = createScenario(ledger);
    const waiting = await scenario.run([{ ref: 'A' }]);
    await waiting.send('A', accepted(serviceIdOf(scenario, 'a')));
    const held = await scenario.run([{ ref: 'B' }]);
    await ledger.holdUnsent(held.batchId, { reason: REASON, now: NOW });
    const atRest = await scenario.run([{ ref: 'C' }]);
    for (const batch of [waiting, held, atRest]) {
      await batch.finish();
      const open = batch === atRest ? [] : await batch.lines();
      await ledger.noteReported(batch.batchId, { revision: 1, writtenAt: NOW, flags: 0, open });
    }
    const { finishedAt } = await held.record();
    const measured = async (heldSince: number, closedSince = NOW * 2, limit = 10): Promise<readonly string[]> =>
      (await ledger.measuredBatches(scenario.application, { closedSince, heldSince, limit })).map(
        ({ batchId }) => batchId,
      );

    expect(await measured(finishedAt ?? 0)).toEqual([held.batchId, waiting.batchId]);
    expect(await measured((finishedAt ?? 0) + 1)).toEqual([waiting.batchId]);
    expect(await measured(0, 0, 2)).toEqual([held.batchId, waiting.batchId]);
    expect(await measured(0, 0)).toEqual([held.batchId, waiting.batchId, atRest.batchId]);
  });

  it('are of invoices in doubt: once each, of open batches, and for a while after the end or the last report', async () => {
    const scenario = createScenario(ledger);
    const batch = await scenario.run([{ ref: 'A' }, { ref: 'B' }]);
    const doubtful = serviceIdOf(scenario, 'a');
    await batch.send('A', accepted(doubtful));
    await batch.send('B', accepted(serviceIdOf(scenario, 'b')));
    await ledger.recordDeliveries([delivery(doubtful, 'issued')]);
    await ledger.recordDeliveries([delivery(serviceIdOf(scenario, 'b'), 'issued')]);
    const inDoubt = async (since: number): Promise<number> => ledger.measureDoubt(scenario.application, { since });
    expect(await inDoubt(0)).toBe(0);

    await ledger.recordDeliveries([delivery(doubtful, 'failed', { receivedAt: NOW + 9 })]);

    expect(await inDoubt(NOW * 2), 'while the batch is open').toBe(1);
    await batch.finish();
    const { finishedAt } = await batch.record();
    const ended = finishedAt ?? 0;
    expect(await inDoubt(ended)).toBe(1);
    expect(await inDoubt(ended + 1)).toBe(0);
    await ledger.noteReported(batch.batchId, { revision: 2, writtenAt: ended + 5, flags: 1, open: [] });
    expect([await inDoubt(ended + 5), await inDoubt(ended + 6)]).toEqual([1, 0]);
    const again = await scenario.run([{ ref: 'A' }]);
    expect((await again.lines()).map(({ state }) => state)).toEqual(['already-issued']);
    expect(await inDoubt(0), 'the same invoice in two files').toBe(1);
    expect(await ledger.measureDoubt(createScenario(ledger).application, { since: 0 })).toBe(0);
  });
}

describe('the figures for the metrics', () => {
  describe('on PGlite', () => {
    const shared = sharedLedger(temporaryLedger);
    afterAll(() => shared.close());

    measuringContract(shared.open);
  });

  describe.skipIf(url === null)('on PostgreSQL', () => {
    const shared = sharedPostgresLedger(url ?? '');
    afterAll(() => shared.close());

    measuringContract(shared.open);
  });
});
