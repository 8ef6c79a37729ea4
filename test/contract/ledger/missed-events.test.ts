import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import type { Database } from '../../../src/ledger/database/database.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { accepted, createScenario, delivery, NOW, REASON } from './scenario.ts';
import { temporaryDatabase } from '../../support/servers/temporary-database.ts';

const STORED = `INSERT INTO delivery (sha256, raw, received_at, event_type, service_id, verdict)
VALUES ($1, '', $2, 'invoice.issued', $1, 'issued')`;
const STORED_FAILURE = `INSERT INTO delivery (sha256, raw, received_at, event_type, service_id, verdict)
VALUES ($1 || ' failed', '', $2, 'invoice.failed', $1, 'failed')`;

/** What `record-status` writes, and nothing after it. */
const FAILED_ALONE = `UPDATE invoice SET state = 'failed', settled_at = 1, reason_code = 'because', reason_message = '' WHERE invoice_id = $1`;
/** The same for an invoice that was issued by an earlier document meanwhile. */
const FAILED_ANEW = `WITH kept AS (DELETE FROM invoice_generation WHERE invoice_id = $1 AND generation = 2 RETURNING *)
UPDATE invoice i SET state = 'failed', service_id = kept.service_id, idempotency_key = kept.idempotency_key FROM kept WHERE i.invoice_id = $1`;

/** A receiver that dies between its commit and the application of what it stored. */
describe('an event that was stored and never applied', () => {
  let database: Database;
  let ledger: Ledger;
  beforeAll(async () => {
    database = await temporaryDatabase();
    ledger = await openLedger({ database, schema: null, keyOf: idempotencyKeyOf });
  });
  afterAll(() => ledger.close());

  it('is applied by reconciliation, to the invoice and to an earlier generation of one', async () => {
    const batch = await createScenario(ledger).run([{ ref: 'live' }, { ref: 'past' }]);
    await batch.send('live', accepted('inv_live'));
    const past = await batch.one('past');
    await batch.send('past', accepted('inv_past'));
    await ledger.recordStatus([
      { invoiceId: past.invoiceId, serviceId: 'inv_past', status: 'failed', reason: REASON, now: NOW },
    ]);
    const policy = { maxGenerations: 3, retentionMs: 1, rejectionIsProof: true, acceptDuplicateRisk: false, now: NOW };
    const action = { actionId: 'retry-1', who: null, why: 'test' };
    await ledger.retryInvoices({ batchId: batch.batchId, selection: {}, policy, action });
    await batch.finish();
    await ledger.noteReported(batch.batchId, { revision: 1, writtenAt: NOW, flags: 0, open: await batch.lines() });
    for (const serviceId of ['inv_live', 'inv_past']) await database.query(STORED, [serviceId, NOW]);

    const moved = await ledger.applyMissedEvents();

    expect(moved).toBe(2);
    expect(await batch.line('live')).toMatchObject({ state: 'issued', serviceId: 'inv_live' });
    expect(await batch.line('past')).toMatchObject({
      state: 'issued',
      serviceId: 'inv_past',
      flags: ['issued-after-failed'],
    });
    expect(await ledger.applyMissedEvents()).toBe(0);
  });

  it('of an earlier document decides an invoice that is failed, also if who wrote failed died before it looked', async () => {
    const batch = await createScenario(ledger).run([{ ref: 'died' }]);
    const { invoiceId } = await batch.one('died');
    const policy = { maxGenerations: 3, retentionMs: 1, rejectionIsProof: true, acceptDuplicateRisk: false, now: NOW };
    const failed = { invoiceId, status: 'failed', reason: REASON, now: NOW } as const;
    await batch.send('died', accepted('inv_died-1'));
    await ledger.recordStatus([{ ...failed, serviceId: 'inv_died-1' }]);
    const action = { actionId: 'retry-died', who: null, why: 'test' };
    await ledger.retryInvoices({ batchId: batch.batchId, selection: {}, policy, action });
    await batch.send('died', accepted('inv_died-2'));
    await ledger.recordDeliveries([delivery('inv_died-1', 'issued', { receivedAt: NOW + 5 })]);
    await database.query(FAILED_ALONE, [invoiceId]);

    const page = await ledger.pageProgress(batch.batchId, 1);
    expect(page.counts).toEqual({ issued: 1 });
    expect(page.settled).toMatchObject([{ ordinal: 1, state: 'issued' }]);
    await database.query(FAILED_ANEW, [invoiceId]);
    await batch.finish();

    expect(await ledger.applyMissedEvents()).toBe(1);
    expect(await batch.line('died')).toMatchObject({ state: 'issued', serviceId: 'inv_died-1', settledAt: NOW + 5 });
    expect(await ledger.applyMissedEvents()).toBe(0);
  });

  it('that says failed of an issued invoice is flagged by reconciliation, and its report is out of date', async () => {
    const scenario = createScenario(ledger);
    const batch = await scenario.run([{ ref: 'by-event' }, { ref: 'by-get' }, { ref: 'flagged' }]);
    for (const ref of ['by-event', 'by-get', 'flagged']) await batch.send(ref, accepted(`inv_${ref}`));
    await ledger.recordDeliveries([
      delivery('inv_by-event', 'issued'),
      ...[delivery('inv_flagged', 'failed'), delivery('inv_flagged', 'issued')],
    ]);
    const invoiceId = await idOf(batch.batchId, 'by-get');
    const issued = { invoiceId, serviceId: 'inv_by-get', status: 'issued', reason: null, now: NOW } as const;
    await ledger.recordStatus([issued]);
    await batch.finish();
    const { flags } = await ledger.sinceReport(batch.batchId);
    await ledger.noteReported(batch.batchId, { revision: 1, writtenAt: NOW, flags, open: [] });
    for (const serviceId of ['inv_by-event', 'inv_by-get']) await database.query(STORED_FAILURE, [serviceId, NOW]);

    const moved = await ledger.applyMissedEvents();

    expect(moved).toBe(0);
    const lines = await batch.lines();
    expect(lines.map(({ ref, state, flags: said }) => [ref, state, ...said])).toEqual([
      ['by-event', 'issued', 'failed-after-issued'],
      ['by-get', 'issued', 'failed-after-issued'],
      ['flagged', 'issued', 'issued-after-failed'],
    ]);
    expect(await ledger.outdatedReports(scenario.application)).toEqual([batch.batchId]);
  });

  async function idOf(batchId: string, ref: string): Promise<number> {
    const [row] = await database.query<{ invoice_id: number }>(
      'SELECT invoice_id FROM batch_invoice WHERE batch_id = $1 AND invoice_ref = $2',
      [batchId, ref],
    );
    return row?.invoice_id ?? 0;
  }
});
