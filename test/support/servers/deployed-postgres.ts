import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ComposeFile, readComposeFile } from '../../unit/deployment/compose-file.ts';

const COMPOSE_FILE = fileURLToPath(new URL('../../../docker-compose.yml', import.meta.url));

/**
 * Reads the `-c NAME=VALUE` settings of the service `postgresql` in docker-compose.yml. A server that was built without
 * one of them reports an error and does not start.
 */
export function deployedPostgresSettings(): Readonly<Record<string, string>> {
  const { services } = ComposeFile.parse(readComposeFile(readFileSync(COMPOSE_FILE, 'utf8')));
  const command = services['postgresql']?.command ?? [];
  const pairs = command.filter((_, at) => command[at - 1] === '-c').map((pair) => pair.split('=') as [string, string]);
  return Object.fromEntries(pairs);
}
