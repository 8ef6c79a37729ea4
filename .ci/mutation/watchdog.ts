import { Worker } from 'node:worker_threads';

/** CPU time of one test with one mutant; a test of the product takes a fraction of it. */
const LONGEST_CPU_MS = 8_000;

const WATCH = `
  const { workerData: { state, most, pid } } = require('node:worker_threads');
  let beat = -1;
  let since = 0;
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    const used = (user + system) / 1000;
    const now = Atomics.load(state, 0);
    if (now !== beat || Atomics.load(state, 1) === 0) [beat, since] = [now, used];
    else if (used - since > most) process.kill(pid, 'SIGKILL');
  }, 200);
`;

/** Kills this process when a mutant computes without end: no timer of the process itself would ring. It counts CPU time, because a busy machine is slow. */
export function startWatchdog(): { begin(): void; end(): void } {
  const state = new Int32Array(new SharedArrayBuffer(8));
  new Worker(WATCH, { eval: true, workerData: { state, most: LONGEST_CPU_MS, pid: process.pid } }).unref();
  return {
    begin() {
      Atomics.add(state, 0, 1);
      Atomics.store(state, 1, 1);
    },
    end: () => void Atomics.store(state, 1, 0),
  };
}
