import { exitCodeOf, SIGNALS, type ShutdownSignal } from './shutdown.ts';

const ends = new Set<() => void>();

/**
 * Calls `end` when this process ends, also by a signal that nothing else hears; never after the returned function. For what would
 * outlive this process, such as a server that it started.
 */
export function endWithProcess(end: () => void): () => void {
  if (ends.size === 0) listen('on');
  ends.add(end);
  return () => {
    if (ends.delete(end) && ends.size === 0) listen('off');
  };
}

function listen(change: 'on' | 'off'): void {
  process[change]('exit', endAll);
  for (const signal of SIGNALS) process[change](signal, leaveUnlessHeard);
}

function endAll(): void {
  for (const end of ends) end();
}

/** As without a listener; who else listens decides what the signal does. */
function leaveUnlessHeard(signal: ShutdownSignal): void {
  if (process.listenerCount(signal) === 1) process.exit(exitCodeOf(signal));
}
