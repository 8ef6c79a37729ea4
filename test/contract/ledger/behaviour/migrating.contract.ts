import { EventEmitter, once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../../../src/database/database.ts';
import {
  LAST_VERSION_OF_0_1_0,
  ledgerId,
  migrate,
  SCHEMA_VERSION,
  schemaFingerprint,
  schemaVersionOf,
  type Migration,
} from '../../../../src/ledger/migrate.ts';
import { SCHEMA } from '../../../../src/ledger/schema.ts';
import { openLedger } from '../../../../src/ledger/ledger.ts';
import { createScenario } from '../scenario.ts';

/** What a later release adds. */
const NEXT: Migration = [
  "ALTER TABLE invoice ADD COLUMN note text NOT NULL DEFAULT 'none'",
  'CREATE TABLE invoice_note (invoice_id bigint PRIMARY KEY, note text NOT NULL)',
];

/** An empty place on the database server, for connections of the same test. */
export interface EmptyPlace {
  connect(): Promise<Database>;
  /** Whether two transactions can be open at once. */
  readonly isShared: boolean;
}

export function migratingContract(emptyPlace: () => Promise<EmptyPlace>): void {
  describe('the schema', () => {
    async function connect(place: EmptyPlace): Promise<Database> {
      const database = await place.connect();
      onTestFinished(() => database.close());
      return database;
    }

    async function versions(database: Database): Promise<readonly number[]> {
      const rows = await database.query<{ version: number }>('SELECT version FROM ledger_migration ORDER BY 1');
      return rows.map(({ version }) => version);
    }

    it('gets a second migration over a ledger with invoices: id, lines and keys stay', async () => {
      const place = await emptyPlace();
      const database = await connect(place);
      const ledger = await openLedger(database);
      const batch = await createScenario(ledger).run(['FT 1', 'FT 2']);
      const lines = await batch.lines();

      await migrate(database, null, [SCHEMA, NEXT]);

      expect(await versions(database)).toEqual([SCHEMA_VERSION, SCHEMA_VERSION + 1]);
      expect(await database.query('SELECT DISTINCT note FROM invoice')).toEqual([{ note: 'none' }]);
      expect(await batch.lines()).toEqual(lines);
      expect(await ledgerId(database)).toBe(ledger.id);
      await expect(migrate(database, null), 'and this Lote leaves it to the newer one').rejects.toMatchObject({
        code: 'ledger-conflict',
        message: expect.stringContaining('use the newer Lote') as string,
      });
    });

    it('is the same whether both migrations run at once or one after the other', async () => {
      const [one, other] = [await connect(await emptyPlace()), await connect(await emptyPlace())];
      await migrate(one, null);
      await migrate(one, null, [SCHEMA, NEXT]);
      await migrate(other, null, [SCHEMA, NEXT]);

      expect(await schemaOf(one)).toEqual(await schemaOf(other));
      expect((await schemaOf(one)).length).toBeGreaterThan(100);
    });

    it('is brought up to date all or nothing', async () => {
      const database = await connect(await emptyPlace());
      await migrate(database, null);
      await database.query('CREATE TABLE invoice_note (text text)');
      const before = await schemaOf(database);

      await expect(migrate(database, null, [SCHEMA, NEXT])).rejects.toMatchObject({ sqlState: '42P07' });

      expect(await versions(database)).toEqual([SCHEMA_VERSION]);
      expect(await schemaOf(database)).toEqual(before);
    });

    it.each([1, LAST_VERSION_OF_0_1_0])(
      'of Lote 0.1.0 (version %i) is refused, and stays as it is',
      async (version) => {
        const database = await connect(await emptyPlace());
        await database.query('CREATE TABLE ledger_migration (version integer PRIMARY KEY)');
        await database.query('CREATE TABLE invoice (invoice_id bigint)');
        await database.query('INSERT INTO ledger_migration SELECT generate_series(1, $1::integer)', [version]);
        const before = await schemaOf(database);
        const kept = { ...database, close: () => Promise.resolve() };

        const failure: unknown = await openLedger(kept).catch((error: unknown) => error);

        expect(failure).toMatchObject({ code: 'ledger-conflict' });
        expect((failure as Error).message).toBe(
          `The ledger is of Lote 0.1.0 (schema version ${version}), which this Lote does not read. ` +
            'Finish its batches with Lote 0.1.0 and keep it, then give this Lote an empty database or data directory. ' +
            'Do not drop files again that 0.1.0 has sent: a new ledger does not know their invoices.',
        );
        expect(await schemaVersionOf(database)).toBe(version);
        expect(await schemaOf(database)).toEqual(before);
      },
    );

    it('has a fingerprint that changes with each migration: templates of embedded ledgers carry it', () => {
      expect(schemaFingerprint()).toMatch(/^[0-9a-f]{16}$/);
      expect(schemaFingerprint([SCHEMA, NEXT])).not.toBe(schemaFingerprint());
    });

    it('does not wait behind a transaction that holds a table for long', async ({ skip }) => {
      const place = await emptyPlace();
      skip(!place.isShared, 'an embedded ledger has one connection');
      const [database, beside] = [await connect(place), await connect(place)];
      await migrate(database, null);
      const events = new EventEmitter();
      const [locked, ended] = [once(events, 'locked'), once(events, 'end')];
      const backup = beside.transaction(async (queries) => {
        await queries.query('LOCK TABLE invoice IN ACCESS SHARE MODE');
        events.emit('locked');
        await ended;
      });
      onTestFinished(() => void events.emit('end'));
      await locked;

      await expect(migrate(database, null, [SCHEMA, NEXT])).rejects.toMatchObject({
        ...{ code: 'ledger-unavailable', sqlState: '55P03' },
      });
      await database.query('DELETE FROM invoice');
      events.emit('end');
      await backup;
      await migrate(database, null, [SCHEMA, NEXT]);

      expect(await schemaVersionOf(database)).toBe(SCHEMA_VERSION + 1);
    });

    it('without the ledger id is no ledger', async () => {
      const database = await (await emptyPlace()).connect();
      await migrate(database, null);
      await database.query('DELETE FROM fact');

      await expect(openLedger(database)).rejects.toMatchObject({
        code: 'ledger-conflict',
      });
      await expect(database.query('SELECT 1'), 'and it lets go of it').rejects.toMatchObject({
        code: 'ledger-unavailable',
      });
    });
  });
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
