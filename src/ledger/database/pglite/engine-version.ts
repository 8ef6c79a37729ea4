import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LoteError } from '../../../domain/errors.ts';

/** The major version of PostgreSQL that PGlite is; a test compares it with what PGlite writes. */
export const ENGINE_VERSION = '18';

/**
 * Refuses files of another major version of PostgreSQL, which this one cannot read: another release of Lote wrote them.
 * @throws LoteError `ledger-conflict`
 */
export async function requireEngineVersion(directory: string): Promise<void> {
  const written = await readFile(join(directory, 'PG_VERSION'), 'utf8').catch(() => null);
  const version = written?.trim() ?? ENGINE_VERSION;
  if (version === ENGINE_VERSION) return;
  throw new LoteError(
    'ledger-conflict',
    `Opening the embedded ledger at ${directory}: this Lote reads files of PostgreSQL ${ENGINE_VERSION}, found those of PostgreSQL ${version}. Nothing was changed. Use the version of Lote that wrote them (CHANGELOG.md names the change)`,
  );
}
