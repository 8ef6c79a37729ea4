import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { distributedPlace, type DistributedPlace } from '../../support/lote/distributed-place.ts';
import { postgresDatabase, type PostgresDatabase } from '../../support/servers/postgres-database.ts';

const server = inject('postgresUrl');

describe.skipIf(server === null)('a worker that stops', () => {
  let shared: DistributedPlace;
  let strangers: PostgresDatabase;

  beforeAll(async () => {
    shared = await distributedPlace({ postgresUrl: server ?? '', temporalAddress: inject('temporalAddress') });
    strangers = await postgresDatabase(server ?? '');
  });
  afterAll(async () => {
    await shared.remove();
    await strangers.drop();
  });

  it('says goodbye: a worker of another ledger takes its task queue at once, and a client sees that nobody is there', async () => {
    const first = shared.processes.start(['worker'], shared.env);
    await first.said('Worker on task queue');
    first.signal('SIGTERM');
    expect((await first.end).code).toBe(0);

    const client = shared.processes.start(['reconcile', '--json'], shared.client);
    const stranger = shared.processes.start(['worker'], { ...shared.env, DATABASE_URL: strangers.url });
    await stranger.said('Worker on task queue');
    stranger.signal('SIGTERM');

    const { code, stderr } = await stranger.end;
    expect(code, stderr).toBe(0);
    // What it says before it waits.
    expect(stderr).not.toContain('looking for 90 s');
    expect((await client.end).code).toBe(3);
  });
});
