import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Installation } from '../../runtime/config/installation.ts';

/** The same for any installation: each of its applications must have what one has. */
export function requireSharedInstallation(installation: Installation, part: string): Installation {
  for (const config of installation.applications) requireShared(config, part);
  return installation;
}

/** Parts that run apart share a database and a Temporal server; without them each would keep a truth of its own. */
export function requireShared(config: Config, part: string): Config {
  if (config.databaseUrl !== null && config.temporal.address !== null && config.service.kind === 'remote')
    return config;
  throw new LoteError(
    'configuration-invalid',
    `Starting ${part} as a process of its own: DATABASE_URL, TEMPORAL_ADDRESS, INVOICING_BASE_URL and INVOICING_API_KEY must all be set. For everything in one process use \`lote up\`.`,
  );
}
