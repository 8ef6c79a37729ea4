import { setTimeout as sleep } from 'node:timers/promises';
import { procFile } from './proc-file.ts';
import { readTree, type ProcessStat } from './process-tree-usage.ts';

/** Who of a process tree uses memory: the servers that are started as its children, and all the rest. */
export type Program = 'lote' | 'temporal' | 'postgres' | 'redis';

/** PSS in MB: a page that several processes share counts once. */
export type MemoryUse = Readonly<Record<Program, number>>;

export interface MemoryWatch {
  /** The most that each has used at any one time so far. */
  readonly peak: MemoryUse;
  /** The most that all have used together at one time. */
  readonly peakOfAll: number;
  now(): Promise<MemoryUse>;
  stop(): Promise<void>;
}

const NOTHING: MemoryUse = { lote: 0, temporal: 0, postgres: 0, redis: 0 };
/** To add up the pages of a process of 500 MB takes some milliseconds of the kernel. */
const SAMPLE_EVERY_MS = 250;
/** To find the processes of a tree takes a look at all of the machine. */
const LIST_EVERY_MS = 1_000;

/**
 * Samples the memory of process trees until it is stopped; `roots` are asked again for each list of their processes. Every 250 ms, with PostgreSQL among
 * them, took 8 % of two cores: a bench that measures speed at the same time samples less often.
 */
export function watchMemory(roots: () => readonly number[], everyMs: number = SAMPLE_EVERY_MS): MemoryWatch {
  let peak = NOTHING;
  let peakOfAll = 0;
  let stopped = false;
  const sampling = sample();
  return {
    get peak() {
      return peak;
    },
    get peakOfAll() {
      return peakOfAll;
    },
    now: async () => memoryOf(await processesOf(roots())),
    async stop() {
      stopped = true;
      await sampling;
    },
  };

  async function sample(): Promise<void> {
    let processes: readonly ProcessStat[] = [];
    let listedAt = -Infinity;
    while (!stopped) {
      if (performance.now() - listedAt >= LIST_EVERY_MS) {
        processes = await processesOf(roots());
        listedAt = performance.now();
      }
      const use = memoryOf(processes);
      peak = combine(peak, use, Math.max);
      peakOfAll = Math.max(peakOfAll, use.lote + use.temporal + use.postgres + use.redis);
      await sleep(everyMs);
    }
  }
}

async function processesOf(roots: readonly number[]): Promise<readonly ProcessStat[]> {
  return (await Promise.all(roots.map((root) => readTree(root)))).flat();
}

function memoryOf(processes: readonly ProcessStat[]): MemoryUse {
  const uses = processes.map(({ pid, name }) => ({ ...NOTHING, [programOf(name)]: pssOf(pid) }));
  return uses.reduce((sum, use) => combine(sum, use, (a, b) => a + b), NOTHING);
}

function programOf(name: string): Program {
  if (name.startsWith('temporal')) return 'temporal';
  if (name.startsWith('postgres')) return 'postgres';
  return name.startsWith('redis') ? 'redis' : 'lote';
}

/** Zero for a process that has ended. */
function pssOf(pid: number): number {
  const text = procFile(`/proc/${pid}/smaps_rollup`);
  return Number(/^Pss:\s+(\d+)/m.exec(text ?? '')?.[1] ?? 0) / 1024;
}

function combine(a: MemoryUse, b: MemoryUse, by: (a: number, b: number) => number): MemoryUse {
  return {
    lote: by(a.lote, b.lote),
    temporal: by(a.temporal, b.temporal),
    postgres: by(a.postgres, b.postgres),
    redis: by(a.redis, b.redis),
  };
}
