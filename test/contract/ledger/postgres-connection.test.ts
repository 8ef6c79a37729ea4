import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openPostgresLedger } from '../../../src/ledger/open-postgres-ledger.ts';
import { startPostgresCluster } from '../../support/servers/postgres-cluster.ts';

const server = inject('postgresUrl');

describe.skipIf(server === null)('a PostgreSQL server that refuses the connection', () => {
  async function refusal(connectionString: string): Promise<unknown> {
    return openPostgresLedger({ connectionString }).then(
      (ledger) => ledger.close(),
      (error: unknown) => error,
    );
  }

  it('because it has no TLS and the address asks for it is called that', async () => {
    const address = new URL(server ?? '');
    address.searchParams.set('sslmode', 'verify-full');

    expect(await refusal(address.href)).toMatchObject({
      code: 'ledger-unavailable',
      message: expect.stringContaining('found a server without TLS, which sslmode in DATABASE_URL asks for') as string,
    });
  });

  it('because it asks for a password and the address has none is called that', async () => {
    const cluster = await startPostgresCluster({ superuser: { name: 'lote', password: 'secret' } });
    onTestFinished(() => cluster?.stop());
    const address = new URL(cluster?.url ?? '');
    address.password = '';

    expect(await refusal(address.href)).toMatchObject({
      code: 'ledger-unavailable',
      message: expect.stringContaining('found a server that asks for a password, and none in DATABASE_URL') as string,
    });
  });
});
