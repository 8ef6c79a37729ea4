import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { childEnvironment } from './child-environment.ts';

const run = promisify(execFile);
/** Field 22 of /proc/<pid>/stat, counted after the command's closing bracket, where field 3 stands first. */
const START_FIELD = 22 - 3;

/** When a process started, as an opaque word; null when there is none. A pid alone may be another process by now. */
export async function processStartTime(pid: number): Promise<string | null> {
  try {
    if (process.platform !== 'linux')
      return (
        (await run('ps', ['-o', 'lstart=', '-p', String(pid)], { env: childEnvironment(process.env) })).stdout.trim() ||
        null
      );
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD] ?? null;
  } catch {
    return null;
  }
}
