import { homedir } from 'node:os';
import { join } from 'node:path';

/** What is made once per user and is right for every checkout: the Temporal server, workflow bundles, an empty ledger. */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'lote');
}
