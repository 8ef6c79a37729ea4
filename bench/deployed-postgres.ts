import { deployedPostgresSettings } from '../test/support/servers/deployed-postgres.ts';
import { startPostgresCluster, type PostgresCluster } from '../test/support/servers/postgres-cluster.ts';

/**
 * A private PostgreSQL that waits for the disk and has the settings of docker-compose.yml: what is measured is what a team runs. Null: this machine has no
 * `initdb` and `postgres`.
 */
export function startDeployedPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresCluster | null> {
  return startPostgresCluster({ durable: true, settings: { ...deployedPostgresSettings(), ...settings } });
}
