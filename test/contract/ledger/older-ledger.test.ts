import { EventEmitter, once } from 'node:events';
import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import type { Database } from '../../../src/ledger/database/database.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { LEDGER_TABLES } from '../../../src/ledger/database/migrations/0001-0009/0001-ledger.ts';
import { OPERATING_TABLES } from '../../../src/ledger/database/migrations/0001-0009/0002-operating.ts';
import { SERVICE_USE_TABLES } from '../../../src/ledger/database/migrations/0001-0009/0003-service-use.ts';
import { PURGE_COLUMNS } from '../../../src/ledger/database/migrations/0001-0009/0004-purge.ts';
import { LOOKUP_INDEXES } from '../../../src/ledger/database/migrations/0001-0009/0005-lookup.ts';
import { PROBE_TURN } from '../../../src/ledger/database/migrations/0001-0009/0006-probe.ts';
import { SECOND_TRIES } from '../../../src/ledger/database/migrations/0001-0009/0007-second-tries.ts';
import { SHARED_SERVICE } from '../../../src/ledger/database/migrations/0001-0009/0009-shared-service.ts';
import { FENCING_TOKEN } from '../../../src/ledger/database/migrations/0010-fencing.ts';
import { SENDING_CONTROL } from '../../../src/ledger/database/migrations/0011-sending-control.ts';
import { SHARED_FOLDERS } from '../../../src/ledger/database/migrations/0016-shared-folders.ts';
import { PROFILE_MISFITS } from '../../../src/ledger/database/migrations/0017-profile-misfits.ts';
import { SENDING_MARKS } from '../../../src/ledger/database/migrations/0018-sending-marks.ts';
import { DELIVERY_APPLICATION } from '../../../src/ledger/database/migrations/0019-delivery-application.ts';
import { TOTAL_CHECKS } from '../../../src/ledger/database/migrations/0020-total-checks.ts';
import { INVOICE_TRIES } from '../../../src/ledger/database/migrations/0021-invoice-tries.ts';
import { REPORT_FIGURES } from '../../../src/ledger/database/migrations/0022-report-figures.ts';
import { FAILURE_INDEXES } from '../../../src/ledger/database/migrations/0023-failure-indexes.ts';
import { ROOM_FOR_UPDATES } from '../../../src/ledger/database/migrations/0024-room-for-updates.ts';
import { LEADING_ZEROS } from '../../../src/ledger/database/migrations/0025-leading-zeros.ts';
import { NUMBERS_OF_SPREADSHEETS } from '../../../src/ledger/database/migrations/0026-numbers-of-spreadsheets.ts';
import { UNKEYED_SPELLINGS } from '../../../src/ledger/database/migrations/0027-unkeyed-spellings.ts';
import { LOOK_ALIKES } from '../../../src/ledger/database/migrations/0014-look-alikes.ts';
import { openPostgresDatabase } from '../../../src/ledger/database/postgres/open-postgres-database.ts';
import { postgresSchema, postgresUrl, sql } from '../../support/servers/postgres-schema.ts';
import { collect, invoiceOf, NIF, NOW, REASON, validInvoice } from './scenario.ts';

/** What each release left behind, in order. */
const RELEASED = [
  LEDGER_TABLES,
  OPERATING_TABLES,
  SERVICE_USE_TABLES,
  PURGE_COLUMNS,
  LOOKUP_INDEXES,
  PROBE_TURN,
  SECOND_TRIES,
  SHARED_SERVICE,
  FENCING_TOKEN,
  SENDING_CONTROL,
  LOOK_ALIKES,
  SHARED_FOLDERS,
  PROFILE_MISFITS,
  SENDING_MARKS,
  DELIVERY_APPLICATION,
  TOTAL_CHECKS,
  INVOICE_TRIES,
  REPORT_FIGURES,
  FAILURE_INDEXES,
  ROOM_FOR_UPDATES,
  LEADING_ZEROS,
  NUMBERS_OF_SPREADSHEETS,
  UNKEYED_SPELLINGS,
] as const;

const HOUR = 3_600_000;

const url = postgresUrl();

/** A schema of its own; 0: nothing in it. */
async function databaseOfVersion(version: number): Promise<Database> {
  return (await placeOfVersion(version)).database;
}

/** The same, and its address for further connections. */
async function placeOfVersion(version: number) {
  const place = postgresSchema(url ?? '');
  await sql(place.connectionString, `CREATE SCHEMA "${place.schema}"`);
  onTestFinished(place.drop);
  const database = openPostgresDatabase(place);
  await database.query('CREATE TABLE ledger_migration (version integer PRIMARY KEY)');
  for (const [index, statements] of RELEASED.slice(0, version).entries()) {
    for (const statement of statements) {
      if (typeof statement === 'string') await database.query(statement);
      else await statement(database);
    }
    await database.query('INSERT INTO ledger_migration (version) VALUES ($1)', [index + 1]);
  }
  return { database, place };
}

async function open(database: Database): Promise<Ledger> {
  const ledger = await openLedger({ database, schema: null, keyOf: idempotencyKeyOf });
  onTestFinished(() => ledger.close());
  return ledger;
}

/** Every column with its type and default, every constraint and index. */
async function schemaOf(database: Database): Promise<readonly object[]> {
  return [
    ...(await database.query(`SELECT table_name, column_name, data_type, is_nullable, column_default
      FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2`)),
    ...(await database.query(`SELECT replace(indexdef, schemaname || '.', '') AS index FROM pg_indexes
      WHERE schemaname = current_schema() ORDER BY 1`)),
  ];
}

const STATES = ['staged', 'sending', 'unknown', 'issued'] as const;

/** As every release finds an invoice again; it must never change. */
function identityOf(ref: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['app', NIF, ref]))
    .digest('base64url');
}

/** A finished batch of the first release, an invoice in each state; the bytes have no time yet. */
async function fillFirstRelease(database: Database): Promise<void> {
  await database.query(
    `INSERT INTO batch (batch_id, application, file, sha256, state, workflow_id, run_id, page_size, pages, row_count, invoices,
       started_at, finished_at, revision)
     VALUES ('old', 'app', 'old.csv', 'abc', 'finished', 'w', 'r', 10, 1, 4, 4, $1, $1, 1)`,
    [NOW],
  );
  for (const [index, state] of STATES.entries()) {
    const invoice = invoiceOf({ ref: state });
    const staged = validInvoice('app', invoice, index + 1);
    const serviceId = state === 'issued' ? 'inv_old' : null;
    await database.query(
      `INSERT INTO invoice (identity, application, merchant_nif, invoice_ref, fingerprint, owner_batch, state, generation,
         idempotency_key, exposure, service_id, attempts, changed_at, reason_code, reason_message)
       VALUES ($1, 'app', $2, $4, $3, 'old', $4, 1, $5, $6, $7, 1, $8, $9, $9)`,
      [
        identityOf(state),
        NIF,
        staged.fingerprint,
        state,
        staged.idempotencyKey,
        state === 'unknown' || state === 'sending' ? 'lost' : 'none',
        serviceId,
        NOW,
        state === 'unknown' ? REASON.code : null,
      ],
    );
    const [row] = await database.query<{ id: number }>('SELECT max(invoice_id) AS id FROM invoice');
    const id = row?.id ?? 0;
    await database.query('INSERT INTO invoice_content (invoice_id, generation, content) VALUES ($1, 1, $2)', [
      id,
      JSON.stringify(invoice),
    ]);
    if (state !== 'staged') await database.query(`INSERT INTO invoice_body VALUES ($1, 1, 'the old bytes')`, [id]);
    await database.query(
      `INSERT INTO batch_invoice (batch_id, ordinal, invoice_id, merchant_nif, invoice_ref, currency, net, file_rows)
       VALUES ('old', $1, $2, $3, $4, 'EUR', '21', '{2}')`,
      [index + 1, id, NIF, state],
    );
  }
}

describe.skipIf(url === null)('a ledger of an earlier release', () => {
  it.each(RELEASED.map((_, index) => index))(
    'is the same as a new one after an upgrade from version %i',
    async (version) => {
      const older = await databaseOfVersion(version);
      const fresh = await databaseOfVersion(0);
      await open(older);
      await open(fresh);

      expect(await schemaOf(older)).toEqual(await schemaOf(fresh));
    },
  );

  it('keeps its id: activities that are under way carry it', async () => {
    const database = await databaseOfVersion(1);
    const [before] = await database.query<{ ledger_id: string }>('SELECT ledger_id FROM ledger_meta');

    const ledger = await open(database);

    expect(ledger.id).toBe(before?.ledger_id);
  });

  it('keeps its batches, their lines and their balance', async () => {
    const database = await databaseOfVersion(1);
    await fillFirstRelease(database);

    const ledger = await open(database);

    expect(await ledger.findBatch('old')).toMatchObject({ state: 'finished', invoices: 4, revision: 1 });
    const lines = (await collect(ledger.batchInvoices('old'))).flat();
    expect(lines.map(({ ref, state }) => [ref, state])).toEqual(STATES.map((state) => [state, state]));
    expect(await ledger.findInvoices('inv_old', 10)).toMatchObject([{ ref: 'issued', state: 'issued' }]);
    expect(await ledger.auditOf('old')).toEqual([]);
    const nothing = { revision: 0, changes: [], flags: 0, mark: null, isFlagged: false, contradicted: 0 };
    expect(await ledger.sinceReport('old')).toEqual(nothing);
    expect(await ledger.purgedAt('old')).toBeNull();
  });

  it('knows the spellings of its references: what looks like one of them and is not the same is a conflict', async () => {
    const database = await databaseOfVersion(RELEASED.indexOf(LOOK_ALIKES));
    await fillFirstRelease(database);
    await database.query(`UPDATE invoice SET invoice_ref = $1, identity = $2 WHERE state = 'issued'`, [
      ...['FT\u00a01', identityOf('FT\u00a01')],
    ]);
    await database.query(`UPDATE invoice SET invoice_ref = $1, identity = $2 WHERE state = 'sending'`, [
      ...['0077', identityOf('0077')],
    ]);
    const ledger = await open(database);
    const claim = { application: 'app', file: 'new.csv', workflowId: 'w2', runId: 'r2', now: NOW, takeOver: false };
    const { batch } = await ledger.claimBatch({ ...claim, attempt: 1, batchId: 'new', sha256: 'def' });
    const refs = ['FT 1', 'unkno\u200bwn', '77', 'another'];

    await ledger.stageInvoices(
      batch,
      refs.map((ref, index) => validInvoice('app', invoiceOf({ ref }), index + 1)),
      NOW,
    );

    const lines = (await collect(ledger.batchInvoices('new'))).flat();
    expect(lines.map(({ ref, state, reason }) => [ref, state, reason?.code])).toEqual([
      ['FT 1', 'conflict', 'reference-look-alike'],
      ['unkno\u200bwn', 'conflict', 'reference-look-alike'],
      ['77', 'conflict', 'reference-look-alike'],
      ['another', 'staged', undefined],
    ]);
  });

  it('knows the numbers that a spreadsheet makes of its references', async () => {
    const database = await databaseOfVersion(RELEASED.indexOf(NUMBERS_OF_SPREADSHEETS));
    await fillFirstRelease(database);
    for (const [state, ref] of [
      ['issued', '1E5'],
      ['sending', '\u0661\u0662'],
    ] as const)
      // oxlint-disable-next-line no-await-in-loop -- one connection
      await database.query('UPDATE invoice SET invoice_ref = $1, identity = $2 WHERE state = $3', [
        ...[ref, identityOf(ref), state],
      ]);
    const ledger = await open(database);
    const claim = { application: 'app', file: 'new.csv', workflowId: 'w2', runId: 'r2', now: NOW, takeOver: false };
    const { batch } = await ledger.claimBatch({ ...claim, attempt: 1, batchId: 'new', sha256: 'def' });

    await ledger.stageInvoices(
      batch,
      ['100000', '12'].map((ref, index) => validInvoice('app', invoiceOf({ ref }), index + 1)),
      NOW,
    );

    const lines = (await collect(ledger.batchInvoices('new'))).flat();
    expect(lines.map(({ ref, reason }) => [ref, reason?.code])).toEqual([
      ['100000', 'reference-look-alike'],
      ['12', 'reference-look-alike'],
    ]);
  });

  it('is not upgraded beside a backup that holds a table: nobody waits behind it, and it says why', async () => {
    const { database, place } = await placeOfVersion(RELEASED.indexOf(DELIVERY_APPLICATION));
    const beside = openPostgresDatabase(place);
    onTestFinished(() => beside.close());
    const backupTold = new EventEmitter();
    const [locked, ended] = [once(backupTold, 'locked'), once(backupTold, 'end')];
    const backup = beside.transaction(async (queries) => {
      await queries.query('LOCK TABLE delivery IN ACCESS SHARE MODE');
      backupTold.emit('locked');
      await ended;
    });
    onTestFinished(() => void backupTold.emit('end'));
    await locked;

    await expect(open(database)).rejects.toThrow(/backup \(pg_dump\).*Nothing was changed/);
    await beside.query('DELETE FROM delivery');
    backupTold.emit('end');
    await backup;
    await expect(open(openPostgresDatabase(place))).resolves.toBeDefined();
  });

  it('knows what a spreadsheet makes of references that a worker of a version before has staged after the upgrade', async () => {
    const database = await databaseOfVersion(1);
    const ledger = await open(database);
    const claim = { application: 'app', workflowId: 'w', runId: 'r', now: NOW, takeOver: false, attempt: 1 };
    const older = await ledger.claimBatch({ ...claim, batchId: 'older', file: 'older.csv', sha256: 'abc' });
    const staged = ['0077', '1E5'].map((ref, index) => validInvoice('app', invoiceOf({ ref }), index + 1));
    await ledger.stageInvoices(older.batch, staged, NOW);
    // That worker writes no key for them.
    await database.query('UPDATE invoice SET look_alike = NULL');
    const { batch } = await ledger.claimBatch({ ...claim, batchId: 'new', file: 'new.csv', sha256: 'def' });

    const dropped = ['77', '100000'].map((ref, index) => validInvoice('app', invoiceOf({ ref }), index + 1));
    await ledger.stageInvoices(batch, dropped, NOW);

    const lines = (await collect(ledger.batchInvoices('new'))).flat();
    expect(lines.map(({ ref, state, reason }) => [ref, state, reason?.code])).toEqual([
      ['77', 'conflict', 'reference-look-alike'],
      ['100000', 'conflict', 'reference-look-alike'],
    ]);
  });

  it('does not send an issued invoice again, whatever is dropped after the upgrade', async () => {
    const database = await databaseOfVersion(1);
    await fillFirstRelease(database);
    const ledger = await open(database);
    const claim = {
      application: 'app',
      file: 'new.csv',
      workflowId: 'w2',
      runId: 'r2',
      attempt: 1,
      now: NOW,
      takeOver: false,
    };
    const { batch } = await ledger.claimBatch({ ...claim, batchId: 'new', sha256: 'def' });
    const dropped = [
      invoiceOf({ ref: 'issued' }),
      invoiceOf({ ref: 'unknown', unitPrice: '99' }),
      invoiceOf({ ref: 'staged' }),
    ];

    await ledger.stageInvoices(
      batch,
      dropped.map((invoice, index) => validInvoice('app', invoice, index + 1)),
      NOW,
    );

    const lines = (await collect(ledger.batchInvoices('new'))).flat();
    expect(lines.map(({ ref, state }) => [ref, state])).toEqual([
      ['issued', 'already-issued'],
      ['unknown', 'conflict'],
      ['staged', 'staged'],
    ]);
    expect(await ledger.claimBatch({ ...claim, batchId: 'again', sha256: 'abc' })).toMatchObject({
      kind: 'resumed',
      batch: { batchId: 'old' },
    });
  });

  it('repeats no POST by itself whose time nobody wrote down: the service may have forgotten the key', async () => {
    const database = await databaseOfVersion(1);
    await fillFirstRelease(database);
    const ledger = await open(database);
    const open_ = (await collect(ledger.batchInvoices('old'))).flat();
    await ledger.noteReported('old', { revision: 2, writtenAt: NOW, flags: 0, open: open_ });
    const policy = { maxGenerations: 3, retentionMs: 24 * HOUR, rejectionIsProof: true, now: NOW + HOUR };
    const request = { batchId: 'old', selection: { rows: [2] } };
    const action = { who: 'ana', why: 'support says nothing was stored' };

    const taken = await ledger.takeUnknown({
      application: 'app',
      now: NOW + HOUR,
      retentionMs: 24 * HOUR,
      staleMs: 0,
      all: true,
      afterInvoiceId: 0,
      limit: 10,
    });
    const refused = await ledger.retryInvoices({
      ...request,
      policy: { ...policy, acceptDuplicateRisk: false },
      action: { ...action, actionId: 'a1' },
    });
    const accepted = await ledger.retryInvoices({
      ...request,
      policy: { ...policy, acceptDuplicateRisk: true },
      action: { ...action, actionId: 'a2' },
    });

    expect(taken).toEqual([]);
    expect(refused.refused).toMatchObject({ 'needs-accept-duplicate-risk': 2 });
    expect(accepted.moved).toMatchObject({ repeat: 2, abandon: 0 });
    expect((await ledger.sendable('old', 3, 3))[0]).toMatchObject({
      body: 'the old bytes',
      mayExistSince: policy.now,
      mayExist: true,
    });
  });

  it('is brought up to date all or nothing', async () => {
    const database = await databaseOfVersion(1);
    // A table of that name, somebody else's: the second migration cannot make its own.
    await database.query('CREATE TABLE report_mark (note text)');
    const failing = openLedger({
      schema: null,
      keyOf: idempotencyKeyOf,
      database: { ...database, close: () => Promise.resolve() },
    });
    onTestFinished(() => database.close());

    await expect(failing).rejects.toMatchObject({ code: 'internal', sqlState: '42P07' });

    expect(await database.query('SELECT version FROM ledger_migration')).toEqual([{ version: 1 }]);
    expect(
      await database.query(
        `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_name IN ('audit', 'breaker') ORDER BY 1`,
      ),
    ).toEqual([{ table_name: 'breaker' }]);
  });

  it('says that a database is not one of Lote when its id is gone', async () => {
    const database = await databaseOfVersion(RELEASED.length);
    await database.query('DELETE FROM ledger_meta');

    await expect(openLedger({ database, schema: null, keyOf: idempotencyKeyOf })).rejects.toMatchObject({
      code: 'ledger-conflict',
    });
    await expect(database.query('SELECT 1'), 'and lets go of it').rejects.toMatchObject({ code: 'ledger-unavailable' });
  });
});
