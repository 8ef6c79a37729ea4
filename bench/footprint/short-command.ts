import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from '../measures/median.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMES = 9;
/** What `times` says of the children of a shell: minutes and seconds of user and system. */
const TIMES_LINE = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/;

export interface ShortCommand {
  readonly wallMs: number;
  /** User and system, of all threads. */
  readonly cpuMs: number;
}

/** The medians of a command that is over in a moment, on this Node. */
export async function timeShortCommand(node: string, args: readonly string[]): Promise<ShortCommand> {
  const runs: ShortCommand[] = [];
  for (let turn = 0; turn < TIMES; turn += 1) {
    const started = performance.now();
    // Node tells the CPU time of children to nobody; a shell does.
    const { stdout } = await run('sh', ['-c', '"$@" >&2; times', 'sh', node, 'bin/lote.js', ...args], { cwd: ROOT });
    runs.push({ wallMs: performance.now() - started, cpuMs: cpuOf(stdout) });
  }
  return { wallMs: median(runs.map(({ wallMs }) => wallMs)), cpuMs: median(runs.map(({ cpuMs }) => cpuMs)) };
}

function cpuOf(output: string): number {
  const [, ...parts] = TIMES_LINE.exec(output) ?? [];
  const [userMinutes = 0, user = 0, systemMinutes = 0, system = 0] = parts.map(Number);
  return ((userMinutes + systemMinutes) * 60 + user + system) * 1000;
}
