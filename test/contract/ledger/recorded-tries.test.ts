import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import { openLedger } from '../../../src/wiring/account/open-ledger.ts';
import { postgresDatabase, type PostgresDatabase } from '../../support/servers/postgres-database.ts';
import { postgresUrl } from '../../support/servers/postgres-schema.ts';
import { until } from '../../support/until.ts';
import { createScenario, NOW, REASON, serviceIdOf } from './scenario.ts';

const url = postgresUrl();
const TRY = { sentAt: NOW, answeredAt: NOW + 1, reason: REASON };

describe.skipIf(url === null)('the tries of an invoice, which are for people to read', () => {
  let database: PostgresDatabase;
  let ledger: Ledger;

  beforeAll(async () => {
    database = await postgresDatabase(url ?? '');
    ledger = await openLedger({ databaseUrl: database.url, directory: '' });
  });
  afterAll(async () => {
    await ledger.close();
    await database.drop();
  });

  /** An invoice whose first POST brought no answer and whose second one an acceptance, not recorded yet. */
  async function acceptedAtSecondTry(ref: string) {
    const scenario = createScenario(ledger);
    const batch = await scenario.run([{ ref }]);
    const { invoiceId, generation } = await batch.freeze(ref);
    const outcome = { kind: 'accepted' as const, serviceId: serviceIdOf(scenario, ref) };
    const sent = { invoiceId, generation, attempts: 2, sentAt: NOW, outcome, tries: [TRY] };
    return { batch, record: () => ledger.recordSends([sent]), stateOf: async () => (await batch.line(ref)).state };
  }

  it('are written after the answers: nobody waits with an answer for them', async () => {
    const { batch, record, stateOf } = await acceptedAtSecondTry('waits');
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE invoice_try IN ACCESS EXCLUSIVE MODE');

    const recording = record();
    try {
      await until(async () => (await stateOf()) === 'accepted');
    } finally {
      await holder.query('ROLLBACK');
      await holder.end();
    }

    await recording;
    expect((await ledger.invoiceDetails(batch.batchId, 1))?.tries).toMatchObject([TRY]);
  });

  it('cost no answer its place when they cannot be written', async () => {
    const { record, stateOf } = await acceptedAtSecondTry('lost');
    await database.rows('ALTER TABLE invoice_try RENAME TO invoice_try_away');
    try {
      await record();
    } finally {
      await database.rows('ALTER TABLE invoice_try_away RENAME TO invoice_try');
    }

    expect(await stateOf()).toBe('accepted');
  });
});
