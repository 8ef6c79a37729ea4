import { openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** For how long nothing else could run on a thread, in milliseconds. */
export interface LoopDelay {
  readonly longestMs: number;
  readonly p99Ms: number;
  /** The most CPU time of the thread between two turns of its loop, which a busy machine does not make longer; null where there is no /proc. */
  readonly longestCpuMs: number | null;
  /** The longest pause of the garbage collector, which is part of a delay. */
  readonly longestGcMs: number;
}

export interface LoopWatch {
  stop(): LoopDelay;
}

/** The timer that is late by a delay fires this often. */
const RESOLUTION_MS = 5;
const NS_A_MS = 1e6;

/** Watches the event loop of the main thread. On a busy machine a delay is also the time in which the thread waited for a core. */
export function watchEventLoop(): LoopWatch {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const turns = watchTurns();
  let longestGcMs = 0;
  const collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestGcMs = Math.max(longestGcMs, duration);
  });
  collections.observe({ entryTypes: ['gc'] });
  histogram.enable();
  const late = (ns: number): number => Math.max(0, ns / NS_A_MS - RESOLUTION_MS);
  return {
    stop() {
      histogram.disable();
      collections.disconnect();
      const longestCpuMs = turns.stop();
      return { longestMs: late(histogram.max), p99Ms: late(histogram.percentile(99)), longestCpuMs, longestGcMs };
    },
  };
}

/** `stop` says how much CPU time the longest turn of the loop took, in milliseconds. */
function watchTurns(): { stop(): number | null } {
  const cpuMs = threadClock();
  if (cpuMs === null) return { stop: () => null };
  let longest = 0;
  let before = cpuMs();
  const timer = setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, RESOLUTION_MS);
  return {
    stop() {
      clearInterval(timer);
      return longest;
    },
  };
}

/** CPU time of the main thread so far, as the scheduler of Linux counts it; null elsewhere. */
function threadClock(): (() => number) | null {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    const buffer = Buffer.alloc(64);
    return () => {
      const length = readSync(file, buffer, 0, buffer.length, 0);
      return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / NS_A_MS;
    };
  } catch {
    return null;
  }
}

/** Below a table that shows delays. */
export const BLOCK_NOTE =
  'Longest block: for how long nothing else could run on the main thread (monitorEventLoopDelay), with the CPU time of its longest turn, the 99th percentile, and the longest pause of the garbage collector. On a busy machine the CPU time counts: the rest is waiting for a core.';

/** `38 (CPU 30, p99 4, GC 12)`. */
export function delayText({ longestMs, longestCpuMs, p99Ms, longestGcMs }: LoopDelay): string {
  const cpu = longestCpuMs === null ? '' : `CPU ${longestCpuMs.toFixed(0)}, `;
  return `${longestMs.toFixed(0)} (${cpu}p99 ${p99Ms.toFixed(0)}, GC ${longestGcMs.toFixed(0)})`;
}
