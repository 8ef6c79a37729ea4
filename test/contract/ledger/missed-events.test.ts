import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import type { Database } from '../../../src/ledger/database/database.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { accepted, createScenario, NOW, REASON } from './scenario.ts';
import { temporaryDatabase } from '../../support/servers/temporary-database.ts';

const STORED = `INSERT INTO delivery (sha256, raw, received_at, event_type, service_id, verdict)
VALUES ($1, '', $2, 'invoice.issued', $1, 'issued')`;

/** A receiver that dies between its commit and the application of what it stored. */
describe('an issued event that was stored and never applied', () => {
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
});
