import { readdir } from 'node:fs/promises';
import { procFile } from './proc-file.ts';

export interface TreeUsage {
  /** Of all processes below the given one, as far as they still run. */
  readonly cpuMs: number;
}

/** Linux counts in ticks of 10 ms. */
const TICK_MS = 10;

/** CPU time of the children of a process, and of theirs; zero where there is no /proc. */
export async function processTreeUsage(root: number): Promise<TreeUsage> {
  const below = (await readTree(root)).filter(({ pid }) => pid !== root);
  return { cpuMs: below.reduce((sum, one) => sum + one.cpuMs, 0) };
}

/** CPU time of this process's main thread in milliseconds: one core is all that it can use. Zero where there is no /proc. */
export function mainThreadCpuMs(): number {
  return readStat(process.pid, `/proc/self/task/${process.pid}/stat`)?.cpuMs ?? 0;
}

/** One process, as /proc shows it. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** Of its program, at most 15 characters. */
  readonly name: string;
  /** Its own, and of those children that it has waited for. */
  readonly cpuMs: number;
}

/** A process and all below it; empty where there is no /proc. */
export async function readTree(root: number): Promise<readonly ProcessStat[]> {
  const processes = await readProcesses();
  const from = (pid: number): readonly ProcessStat[] =>
    processes.filter(({ parent }) => parent === pid).flatMap((one) => [one, ...from(one.pid)]);
  return [...processes.filter(({ pid }) => pid === root), ...from(root)];
}

async function readProcesses(): Promise<readonly ProcessStat[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.flatMap((name) => (/^\d+$/.test(name) ? (readStat(Number(name)) ?? []) : []));
}

function readStat(pid: number, file = `/proc/${pid}/stat`): ProcessStat | null {
  const text = procFile(file);
  if (text === null) return null;
  // The second field is the name in brackets, and may hold anything; 4 is the parent, 14 to 17 are CPU times with those of waited-for children.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0);
  const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
  return { pid, parent: fields[1] ?? 0, name, cpuMs: ticks * TICK_MS };
}
