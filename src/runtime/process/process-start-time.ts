import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { childEnvironment } from './child-environment.ts';
import { statField } from './stat-field.ts';

const run = promisify(execFile);
const START_FIELD = 22;

/**
 * When a process started, as an opaque word; null when there is none. A pid alone may be another process by now.
 * @throws when the system does not tell, as where no further file may be opened.
 */
export async function processStartTime(pid: number): Promise<string | null> {
  try {
    if (process.platform !== 'linux')
      return (
        (await run('ps', ['-o', 'lstart=', '-p', String(pid)], { env: childEnvironment(process.env) })).stdout.trim() ||
        null
      );
    return (await statField(pid, START_FIELD)) ?? null;
  } catch (error) {
    if (isNoProcess((error as { readonly code?: unknown }).code)) return null;
    throw error;
  }
}

/** What `/proc` says of a process that has ended; of `ps` it is the exit code. */
function isNoProcess(code: unknown): boolean {
  return code === 'ENOENT' || code === 'ESRCH' || typeof code === 'number';
}
