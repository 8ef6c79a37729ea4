import { openDataDir } from '../data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../data-dir/directory-lock.ts';
import type { ProcessStart } from './open-application.ts';
import type { RunningProcess } from './start-process.ts';
import { FOLDER_MODE, folderTrouble, makeFolder, requireWritable } from '../../platform/folders.ts';

/** The process that owns a data directory, with every role. */
export type Owner = {
  readonly [Part in 'client' | 'endpoints']: NonNullable<RunningProcess[Part]>;
} & RunningProcess;

/** Settings for the start of an owner. */
export interface OwnerStart extends Omit<ProcessStart, 'own' | 'roles'> {
  readonly env: NodeJS.ProcessEnv;
}

/** Starts every part that is not configured elsewhere. Returns null when another process owns the data directory. */
export async function startOwner({ env, ...start }: OwnerStart): Promise<Owner | null> {
  const { config } = start;
  const dataDir = await openDataDir(config.dataDir);
  const input = { title: 'input folder', path: config.inputDir, variable: 'LOTE_INPUT_DIR' };
  // An existing folder may be read-only.
  await makeFolder(input.path, FOLDER_MODE).catch((error: unknown) => {
    throw folderTrouble(error, input, { next: '. Make or mount it, or name another one.' });
  });
  await requireWritable({ title: 'reports folder', path: config.reportsDir, variable: 'LOTE_REPORTS_DIR' });
  const lock = await acquireDirectoryLock(dataDir.path);
  if (lock === null) return null;
  // Most commands find an owner and need no own process, and loading it takes a second.
  const { ALL_ROLES, startProcess } = await import('./start-process.ts');
  return (await startProcess({ ...start, roles: ALL_ROLES, own: { dataDir, lock, env } })) as Owner;
}
