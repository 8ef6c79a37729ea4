import { constants } from 'node:os';
import { LoteError } from '../../domain/errors.ts';

/** Message of an interrupted command whose work other processes, or the next command, continue. */
export const INTERRUPTED = 'Interrupted: what was begun goes on where a worker runs, or with the next command.';

/** Reacts to Ctrl-C and the like. */
export type Interruption = ReturnType<typeof interruption>;

/** Signals of a terminal's Ctrl-C and Ctrl-\, a service manager's stop and a closed terminal. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Listens for signals from now on, because a signal without a listener does not end the first process of a container.
 * `leaveNow` runs before the process leaves at once.
 */
export function interruption(sentence: () => string = () => INTERRUPTED, leaveNow: () => void = () => undefined) {
  let hasBegun = false;
  let resolve: (() => void) | null = null;
  const over = new Promise<void>((done) => (resolve = done));
  const listeners = SIGNALS.map((signal) => {
    function listener(): void {
      if (hasBegun && resolve !== null) {
        resolve();
        resolve = null;
        return;
      }
      leaveNow();
      // Uses the exit codes of shells: 130 after Ctrl-C.
      process.exit(128 + constants.signals[signal]);
    }
    process.on(signal, listener);
    return () => void process.off(signal, listener);
  });
  const interrupted = over.then((): never => {
    throw new LoteError('interrupted', sentence());
  });
  interrupted.catch(() => undefined);
  return {
    /** Resolves at the first signal after `begin`; the second one ends the process at once. */
    over,
    /** Rejects with `interrupted`, which means exit code 130, when `over` resolves. */
    interrupted,
    /**
     * Marks the start of work that must end in order; before it, the first signal ends the process at once. Call `begin`
     * before the line that says that the process is ready: a program that reads that line may stop the process.
     */
    begin: () => void (hasBegun = true),
    /** Removes the listeners. */
    end: () => listeners.forEach((remove) => remove()),
  };
}

/** Longer than closing connections takes. */
const LEFTOVERS_MS = 10_000;

/**
 * Kills this process in ten seconds, for a library that gave up on its work and can no longer end. Such a library would
 * keep the process for ever, also in `process.exit`, which waits for the library.
 */
export function leaveSoon(): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LEFTOVERS_MS);
}
