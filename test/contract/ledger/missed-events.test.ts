import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import { accepted, createScenario, delivery, NOW, REASON, recordDeliveries } from './scenario.ts';
import { temporaryDatabase } from '../../support/servers/temporary-database.ts';

const STORED = `INSERT INTO delivery (sha256, raw, received_at, event_type, service_id, verdict)
VALUES ($1, '', $2, 'invoice.issued', $1, 'issued')`;
const STORED_FAILURE = `INSERT INTO delivery (sha256, raw, received_at, event_type, service_id, verdict)
VALUES ($1 || ' failed', '', $2, 'invoice.failed', $1, 'failed')`;

/** A receiver that dies between its commit and the application of what it stored. */
describe('an event that was stored and never applied', () => {
  let database: Database;
  let ledger: Ledger;
  beforeAll(async () => {
    database = await temporaryDatabase();
    ledger = await openLedger(database);
  });
  afterAll(() => ledger.close());

  it('is applied by reconciliation, to the invoice and to an earlier generation of one', async () => {
    const scenario = createScenario(ledger);
    const batch = await scenario.run(['live', 'past']);
    await batch.send('live', accepted('inv_live'));
    const { invoiceId } = await batch.one('past');
    await batch.send('past', accepted('inv_past'));
    await scenario.ask({ invoiceId, serviceId: 'inv_past' }, 'failed', { reason: REASON });
    await batch.retry();
    await batch.close();
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

  it('that says failed of an issued invoice is flagged by reconciliation, and its report is out of date', async () => {
    const scenario = createScenario(ledger);
    const batch = await scenario.run(['by-event', 'by-get', 'flagged']);
    for (const ref of ['by-event', 'by-get', 'flagged']) await batch.send(ref, accepted(`inv_${ref}`));
    await recordDeliveries(ledger, [
      delivery('inv_by-event', 'issued'),
      ...[delivery('inv_flagged', 'failed'), delivery('inv_flagged', 'issued')],
    ]);
    const invoiceId = await idOf(batch.batchId, 'by-get');
    const issued = { invoiceId, serviceId: 'inv_by-get', status: 'issued', reason: null, now: NOW } as const;
    await ledger.recordStatus([issued]);
    await batch.close();
    for (const serviceId of ['inv_by-event', 'inv_by-get']) await database.query(STORED_FAILURE, [serviceId, NOW]);

    const moved = await ledger.applyMissedEvents();

    expect(moved).toBe(0);
    const lines = await batch.lines();
    expect(lines.map(({ ref, state, flags: said }) => [ref, state, ...said].join(' '))).toEqual([
      'by-event issued failed-after-issued',
      'by-get issued failed-after-issued',
      'flagged issued issued-after-failed',
    ]);
    expect(await ledger.outdatedReports(scenario.application)).toEqual([batch.batchId]);
  });

  async function idOf(batchId: string, ref: string): Promise<number> {
    const [row] = await database.query<{ invoiceId: number }>(
      'SELECT invoice_id FROM batch_invoice WHERE batch_id = $1 AND invoice_ref = $2',
      [batchId, ref],
    );
    return row?.invoiceId ?? 0;
  }
});
