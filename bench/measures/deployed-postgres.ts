import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { startPostgresCluster, type PostgresCluster } from '../../test/support/servers/postgres-cluster.ts';

const COMPOSE_FILE = fileURLToPath(new URL('../../docker-compose.yml', import.meta.url));

/**
 * A private PostgreSQL that waits for the disk and has the settings of docker-compose.yml: what is measured is what a team runs. Null: this machine has no
 * `initdb` and `postgres`.
 * @throws what the server says of a setting that it was built without, such as `wal_compression=lz4`
 */
export function startDeployedPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresCluster | null> {
  return startPostgresCluster({ durable: true, settings: { ...deployedSettings(), ...settings } });
}

/** The `-c NAME=VALUE` of the service `postgresql`. */
function deployedSettings(): Readonly<Record<string, string>> {
  const { services } = parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true }) as {
    readonly services: { readonly postgresql: { readonly command: readonly string[] } };
  };
  const pairs = services.postgresql.command.filter((word) => word.includes('=')).map((word) => word.split('='));
  return Object.fromEntries(pairs) as Readonly<Record<string, string>>;
}
