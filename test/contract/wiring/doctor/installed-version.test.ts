import { readFile } from 'node:fs/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { SCHEMA_VERSION } from '../../../../src/ledger/database/migrations/migrate.ts';
import { openPostgresLedger } from '../../../../src/ledger/database/postgres/open-postgres-ledger.ts';
import { idempotencyKeyOf } from '../../../../src/domain/fingerprint.ts';
import { installedVersion } from '../../../../src/wiring/doctor/installed-version.ts';
import { postgresDatabase } from '../../../support/servers/postgres-database.ts';
import { sql } from '../../../support/servers/postgres-schema.ts';

const server = inject('postgresUrl');

describe('the installed version', () => {
  it('is that of package.json, with the versions of Node and of the Temporal SDK', async () => {
    const { version, dependencies } = JSON.parse(
      await readFile(new URL('../../../../package.json', import.meta.url), 'utf8'),
    ) as { version: string; dependencies: Record<string, string> };

    expect(await installedVersion({})).toMatchObject({
      version,
      schema: SCHEMA_VERSION,
      ledgerSchema: null,
      ledger: 'It is embedded: lote doctor reads it.',
      node: process.version,
      temporalSdk: dependencies['@temporalio/worker'],
    });
  });

  it.each([
    ['a configuration that is wrong', { LOTE_PAGE_SIZE: 'many' }],
    ['a database that does not answer', { DATABASE_URL: 'postgres://lote:secret-1@127.0.0.1:1/lote' }],
  ])('is told with %s, without its secrets', async (_, env) => {
    const installed = await installedVersion(env);

    expect(installed).toMatchObject({ schema: SCHEMA_VERSION, ledger: 'It cannot be read: lote doctor says why.' });
    expect(JSON.stringify(installed)).not.toContain('secret-1');
  });

  it.skipIf(server === undefined)(
    'comes with the schema of a ledger on PostgreSQL, which it leaves as it is',
    async () => {
      const database = await postgresDatabase(server ?? '');
      onTestFinished(() => database.drop());
      const env = { DATABASE_URL: database.url };
      const told = async () => {
        const { ledgerSchema, ledger } = await installedVersion(env);
        return { ledgerSchema, ledger };
      };
      const tables = () => database.rows(`SELECT 1 FROM information_schema.tables WHERE table_schema = 'public'`);

      expect(await told()).toMatchObject({
        ledgerSchema: null,
        ledger: expect.stringContaining('no ledger yet') as string,
      });
      expect(await tables()).toEqual([]);
      await (await openPostgresLedger({ connectionString: database.url, keyOf: idempotencyKeyOf })).close();
      expect(await told()).toEqual({ ledgerSchema: SCHEMA_VERSION, ledger: 'It is up to date.' });
      await sql(database.url, `DELETE FROM ledger_migration WHERE version = ${SCHEMA_VERSION}`);
      expect(await told()).toMatchObject({ ledger: expect.stringContaining('lacks 1 migrations') as string });
      await sql(database.url, `INSERT INTO ledger_migration VALUES (${SCHEMA_VERSION + 1})`);
      expect(await told()).toEqual({
        ledgerSchema: SCHEMA_VERSION + 1,
        ledger: 'A newer Lote has been here: this one refuses it.',
      });
    },
  );
});
