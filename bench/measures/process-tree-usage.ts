import { readdir, readFile } from 'node:fs/promises';

export interface TreeUsage {
  /** Of all processes below the given one, as far as they still run. */
  readonly cpuMs: number;
}

/** Linux counts in ticks of 10 ms. */
const TICK_MS = 10;

/** CPU time of the children of a process, and of theirs; zero where there is no /proc. */
export async function processTreeUsage(root: number): Promise<TreeUsage> {
  const processes = await readProcesses();
  const below = (parent: number): number =>
    processes.filter((one) => one.parent === parent).reduce((sum, one) => sum + one.cpuMs + below(one.pid), 0);
  return { cpuMs: below(root) };
}

/** CPU time of one process in milliseconds, with that of its ended children; zero where there is no /proc. */
export async function processCpuMs(pid: number): Promise<number> {
  return (await readStat(pid))?.cpuMs ?? 0;
}

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly cpuMs: number;
}

async function readProcesses(): Promise<readonly ProcessStat[]> {
  const names = await readdir('/proc').catch(() => []);
  const stats = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readStat(Number(name))));
  return stats.filter((stat) => stat !== null);
}

async function readStat(pid: number): Promise<ProcessStat | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The second field is the name in brackets, and may hold anything; 4 is the parent, 14 to 17 are CPU times with those of waited-for children.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0);
  return { pid, parent: fields[1] ?? 0, cpuMs: ticks * TICK_MS };
}
