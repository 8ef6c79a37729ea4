import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** For how long nothing else could run on a thread, in milliseconds. */
export interface LoopDelay {
  readonly longestMs: number;
  readonly p99Ms: number;
  /** The longest pause of the garbage collector, which is part of a delay. */
  readonly longestGcMs: number;
}

export interface LoopWatch {
  stop(): LoopDelay;
}

/** The timer that is late by a delay fires this often. */
const RESOLUTION_MS = 5;
const NS_A_MS = 1e6;

/** Watches the event loop of this thread. On a busy machine a delay is also the time in which the thread waited for a core. */
export function watchEventLoop(): LoopWatch {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
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
      return { longestMs: late(histogram.max), p99Ms: late(histogram.percentile(99)), longestGcMs };
    },
  };
}

/** Below a table that shows delays. */
export const BLOCK_NOTE =
  'Longest block: for how long nothing else could run on the main thread (monitorEventLoopDelay), with the 99th percentile and the longest pause of the garbage collector; on a busy machine also waits for a core.';

/** `38 (p99 4, GC 12)`. */
export function delayText({ longestMs, p99Ms, longestGcMs }: LoopDelay): string {
  return `${longestMs.toFixed(0)} (p99 ${p99Ms.toFixed(0)}, GC ${longestGcMs.toFixed(0)})`;
}
