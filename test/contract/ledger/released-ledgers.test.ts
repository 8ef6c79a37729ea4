import { describe, expect, it, onTestFinished } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import type { Database, SqlValue } from '../../../src/ledger/database/database.ts';
import { openPostgresDatabase } from '../../../src/ledger/database/postgres/open-postgres-database.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import {
  loadLedger,
  recordingDatabase,
  recordLedger,
  type RecordedLedger,
} from '../../support/ledger/recorded-ledger.ts';
import { readRecorded, RECORDED_VERSION, recordForRelease, releasesWith } from '../../support/releases.ts';
import { postgresSchema, postgresUrl, sql } from '../../support/servers/postgres-schema.ts';
import { emptyPglite } from '../../support/servers/temporary-database.ts';
import { everyState, FROZEN, STATES, type EveryState } from './every-state.ts';
import { collect, invoiceOf, NOW, validInvoice } from './scenario.ts';

const url = postgresUrl();
const DRIVERS: Readonly<Record<string, () => Promise<Database>>> = {
  PGlite: emptyPglite,
  ...(url === null ? {} : { PostgreSQL: emptyPostgres }),
};

async function emptyPostgres(): Promise<Database> {
  const place = postgresSchema(url ?? '');
  await sql(place.connectionString, `CREATE SCHEMA "${place.schema}"`);
  onTestFinished(place.drop);
  return openPostgresDatabase(place);
}

/** A ledger on that database, which it closes. */
async function open(database: Database) {
  const ledger = await openLedger({ database, schema: null, keyOf: idempotencyKeyOf });
  onTestFinished(() => ledger.close());
  return ledger;
}

/** Every column with its type and default, every index. */
async function schemaOf(database: Database): Promise<readonly object[]> {
  return [
    ...(await database.query(`SELECT table_name, column_name, data_type, is_nullable, column_default
      FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2`)),
    ...(await database.query(`SELECT replace(indexdef, schemaname || '.', '') AS index FROM pg_indexes
      WHERE schemaname = current_schema() ORDER BY 1`)),
  ];
}

/** What a release left behind, and the batch in it. */
type Recorded = RecordedLedger & EveryState;

it.skipIf(RECORDED_VERSION === null || url === null)('the ledger of a release is recorded', async () => {
  const statements: [string, readonly SqlValue[]][] = [];
  const database = await emptyPostgres();
  const ledger = await open(recordingDatabase(database, statements));
  const schema = statements.slice();
  const made = await everyState(ledger);

  const recorded: Recorded = { ...made, ...(await recordLedger(database, schema)) };
  await recordForRelease('ledger.json', `${JSON.stringify(recorded, null, 1)}\n`);
});

const CASES = releasesWith('ledger.json').flatMap((release) =>
  Object.entries(DRIVERS).map(([driver, empty]) => ({ ...release, driver, empty })),
);

describe.each(CASES)('a ledger of release $version on $driver', ({ path, empty }) => {
  async function upgraded() {
    const recorded = (await readRecorded(path('ledger.json'))) as Recorded;
    const database = await empty();
    await loadLedger(database, recorded);
    return { ...recorded, database, ledger: await open(database) };
  }

  it('keeps its id, and each invoice its state, its key and its document', async () => {
    const { ledger, batchId, rows } = await upgraded();

    expect(rows['ledger_meta']).toMatchObject([{ ledger_id: ledger.id }]);
    const lines = (await collect(ledger.batchInvoices(batchId))).flat();
    expect(lines.map(({ ref, state }) => [ref, state])).toEqual(STATES.map((state) => [state, state]));
    const keys = new Map((rows['invoice'] as Row[]).map((row) => [row.invoice_ref, row]));
    for (const { ref, idempotencyKey, serviceId } of lines.filter(({ state }) => !OF_NO_INVOICE.includes(state)))
      expect({ ref, idempotencyKey, serviceId }).toEqual({
        ref,
        idempotencyKey: keys.get(ref)?.idempotency_key,
        serviceId: keys.get(ref)?.service_id,
      });
  });

  it('repeats a frozen invoice with its key and its bytes', async () => {
    const { ledger, batchId, rows } = await upgraded();
    const sending = (rows['invoice'] as Row[]).find(({ invoice_ref }) => invoice_ref === 'sending');

    const sendable = await ledger.sendable(batchId, 1, STATES.length);

    expect(sendable.map(({ invoice, state }) => [invoice.ref, state])).toEqual([
      ['staged', 'staged'],
      ['sending', 'sending'],
    ]);
    expect(sendable[1]).toMatchObject({ body: FROZEN, idempotencyKey: sending?.idempotency_key });
  });

  it('sends nothing again, whatever is dropped after the upgrade', async () => {
    const { ledger, application } = await upgraded();
    const claim = {
      application,
      file: 'new.csv',
      workflowId: 'w2',
      runId: 'r2',
      attempt: 1,
      now: NOW,
      takeOver: false,
    };
    const { batch } = await ledger.claimBatch({ ...claim, batchId: 'new', sha256: 'def' });
    const dropped = STATES.filter((state) => state !== 'invalid');

    await ledger.stageInvoices(
      batch,
      dropped.map((ref, index) => validInvoice(application, invoiceOf({ ref }), index + 1)),
      NOW,
    );

    expect(await ledger.sendable('new', 1, STATES.length)).toEqual([]);
  });

  it('has the tables of a new one after the upgrade', async () => {
    const { database } = await upgraded();
    const fresh = await empty();
    await open(fresh);

    expect(await schemaOf(database)).toEqual(await schemaOf(fresh));
  });

  it('was made by migrations that are still the same', async () => {
    const { schema } = (await readRecorded(path('ledger.json'))) as Recorded;
    const statements: [string, readonly SqlValue[]][] = [];
    await open(recordingDatabase(await empty(), statements));

    expect(statements.slice(0, schema.length)).toEqual(schema);
  });
});

/** Lines without an invoice of their batch. */
const OF_NO_INVOICE: readonly string[] = ['invalid', 'conflict'];

interface Row {
  readonly invoice_ref: string;
  readonly idempotency_key: string | null;
  readonly service_id: string | null;
}
