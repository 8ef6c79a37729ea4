import { constants } from 'node:os';

/** A terminal's Ctrl-C and Ctrl-\, a service manager's stop, a closed terminal. */
export const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;
/** One of `SIGNALS`. */
export type ShutdownSignal = (typeof SIGNALS)[number];

export interface ShutdownHandlers {
  /** First signal: stop claiming, let what is in flight end. */
  readonly graceful: (signal: ShutdownSignal) => void;
  /** Second signal, or the first one before there is work: leave now, with this exit code. Later ones change nothing. */
  readonly immediate: (signal: ShutdownSignal, exitCode: number) => void;
  /** False: nothing has begun that would have to end. Left out: there is work. */
  readonly hasWork?: () => boolean;
  /** The process, or a stand-in with its events. */
  readonly source?: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
}

/** 128 + the signal's number, as shells do: 130 after Ctrl-C. */
export function exitCodeOf(signal: ShutdownSignal): number {
  return 128 + constants.signals[signal];
}

/**
 * Listens for signals until the returned function is called. A process that starts listens, too, before it has work: as the first process of a
 * container it would not be ended by a signal that it does not hear, and come up with nobody to tell it again.
 */
export function onShutdown(handlers: ShutdownHandlers): () => void {
  const source = handlers.source ?? process;
  let received = 0;
  const listeners = SIGNALS.map((signal) => {
    function listener(): void {
      received = received === 0 && handlers.hasWork?.() === false ? 2 : received + 1;
      if (received === 1) handlers.graceful(signal);
      if (received === 2) handlers.immediate(signal, exitCodeOf(signal));
    }
    source.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) source.off(signal, listener);
  };
}

/** Longer than closing connections takes. */
const LEFTOVERS_MS = 10_000;

/**
 * Kills this process in ten seconds. For a library that gave up on its work and can no longer end: it would keep the process for ever, also on its
 * way out, where `process.exit` waits for it.
 */
export function leaveSoon(): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LEFTOVERS_MS);
}
