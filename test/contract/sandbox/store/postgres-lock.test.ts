import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postgresStore } from '../../../../src/sandbox/store/postgres-store.ts';
import { postgresSchema, postgresUrl } from '../../../support/servers/postgres-schema.ts';
import { call, merchantIn } from '../../../unit/sandbox/support/client.ts';
import { sandbox } from '../../../unit/sandbox/support/fixtures.ts';

const connectionString = postgresUrl();

// The global set-up has said loudly when there is none.
describe.runIf(connectionString !== null)('a sandbox on PostgreSQL', () => {
  it('writes nothing more when it has lost the schema, and is whole after a new start', async () => {
    const place = postgresSchema(connectionString ?? '');
    onTestFinished(() => place.drop());
    const first = await sandbox({ store: postgresStore(place) });
    const kept = await merchantIn(first.url, '1');

    await endConnectionsOf(`lote sandbox ${place.schema}`);

    const body = { legal_name: 'M', nif: '2', email: 'a@b.test' };
    // A new merchant each time: one that went through just before the loss was noticed would be refused as known.
    let nif = 100;
    const create = async (): Promise<number> => {
      nif += 1;
      return (await call(first.url, 'POST', '/v1/merchants', { body: { ...body, nif: String(nif) } })).status;
    };
    await expect.poll(create).toBe(500);
    const second = await sandbox({ store: postgresStore(place) });
    const refused = await call(first.url, 'POST', '/v1/merchants', { body: { ...body, nif: '3' } });
    expect(refused.status).toBe(500);
    const { json } = await call(second.url, 'GET', '/v1/merchants');
    expect((json['data'] as { readonly id: string }[])[0]?.id).toBe(kept);
  });

  it('has the name of its database in no error that it answers', async () => {
    const starting = postgresStore({ connectionString: 'postgres://user:secret@127.0.0.1:1/none' }).open();

    await expect(starting).rejects.toThrow(/ECONNREFUSED/);
    await expect(starting).rejects.not.toThrow(/secret/);
  });
});

/** Ends the server's side of the connection that holds the advisory lock of that name. */
async function endConnectionsOf(lockName: string): Promise<void> {
  const client = new pg.Client({ connectionString: connectionString ?? '' });
  await client.connect();
  try {
    await client.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)`,
      [lockName],
    );
  } finally {
    await client.end();
  }
}
