import { inject } from 'vitest';
import { ownTemporal, startFleet } from '../lote/fleet.ts';
import { startPostgresCluster } from '../servers/postgres-cluster.ts';
import { bookedLines } from './crash-case.ts';

export type CrashServers = NonNullable<Awaited<ReturnType<typeof crashServers>>>;

/** Longer than the time in which a page polls by itself: otherwise Lote would never signal a page. */
const SETTLE_MS = 3_000;

/**
 * The processes of one crash lane, and the servers that it may end. Null if the machine has no PostgreSQL. `ownServers` is
 * false for a test that ends no server.
 */
export async function crashServers({ pageSize = 30, ownServers = true }) {
  const cluster = ownServers ? await startPostgresCluster() : null;
  const postgresUrl = ownServers ? cluster?.url : inject('postgresUrl');
  if (postgresUrl === null || postgresUrl === undefined) return null;
  const temporal = ownServers ? await ownTemporal() : null;
  const booked = bookedLines(SETTLE_MS);
  const fleet = await startFleet({
    ...{ postgresUrl, webhooks: true, sandbox: { latencyMs: 5, settleMs: SETTLE_MS, engine: booked.engine } },
    ...(temporal !== null && { temporalAddress: temporal.server.address }),
    env: { LOTE_PAGE_SIZE: String(pageSize), LOTE_SETTLE_TIMEOUT: '3m' },
  });
  return {
    ...{ ...fleet, cluster, temporal, booked },
    async remove() {
      await fleet.remove();
      await temporal?.stop();
      await cluster?.stop();
    },
  };
}
