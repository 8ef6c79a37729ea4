import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A process id alone proves nothing: ids are used again. With its start time it names one process for ever. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** When a living process began, in a form that is only compared; null when there is no such process, or only its corpse. */
export async function processStartTime(pid: number): Promise<string | null> {
  return process.platform === 'linux' ? linuxStartTime(pid) : portableStartTime(pid);
}

/** This process. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  return { pid: process.pid, startTime: (await processStartTime(process.pid)) ?? 'unknown' };
}

/** Whether exactly this process lives. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await processStartTime(identity.pid)) === identity.startTime;
}

/** Field 22 of /proc/<pid>/stat counts ticks since boot, so the boot belongs to it. */
async function linuxStartTime(pid: number): Promise<string | null> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    ]);
    // The second field is the program's name in brackets and may hold blanks and brackets: count behind the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X' || ticks === undefined) return null;
    return `${boot.trim().slice(0, 8)}:${ticks}`;
  } catch {
    return null;
  }
}

async function portableStartTime(pid: number): Promise<string | null> {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env: { ...process.env, LC_ALL: 'C' } });
    const [state = 'Z', ...started] = stdout.trim().split(/\s+/);
    return state.startsWith('Z') ? null : started.join(' ');
  } catch {
    return null;
  }
}
