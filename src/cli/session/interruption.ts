import { constants } from 'node:os';
import { LoteError } from '../../domain/errors.ts';

/** What a command says that was interrupted while other processes, or the next command, go on with its work. */
export const INTERRUPTED = 'Interrupted: what was begun goes on where a worker runs, or with the next command.';

/** Ctrl-C of a command that would otherwise run to its own end. */
export interface Interruption {
  /** Rejects at the first Ctrl-C (or SIGTERM) after `begin`, with `interrupted`; never resolves. */
  readonly interrupted: Promise<never>;
  /** From here on there is work that must end in order. Before, the first signal ends the process at once. */
  begin(): void;
  /** The listeners go away. */
  end(): void;
}

/** First signal: the command leaves in order with the sentence, exit code 130. Second: at once, after `leaveNow`. */
export function interruption(sentence: () => string, leaveNow?: () => void): Interruption {
  const { over, begin, end } = stay(leaveNow);
  const interrupted = over.then(() => {
    throw new LoteError('interrupted', sentence());
  });
  interrupted.catch(() => undefined);
  return { interrupted, begin, end };
}

/** A process that stays until it is told to leave. */
export interface Stay {
  /** Resolves at the first Ctrl-C or SIGTERM after `begin`; the second one leaves at once. */
  readonly over: Promise<void>;
  /**
   * From here on there is work that must end in order. Before, the first signal ends the process at once. It comes before the line that says that the
   * process is ready: a program that reads that line may stop it.
   */
  begin(): void;
  /** The listeners go away. */
  end(): void;
}

/** A terminal's Ctrl-C and Ctrl-\\, a service manager's stop, a closed terminal. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Signals are heard from the call on, also before there is work: as the first process of a container, one would not be ended by a signal that it does not
 * hear. `leaveNow` runs before the process leaves at once.
 */
export function stay(leaveNow: () => void = () => undefined): Stay {
  let hasBegun = false;
  let received = 0;
  let resolve: () => void = () => undefined;
  const over = new Promise<void>((done) => (resolve = done));
  const listeners = SIGNALS.map((signal) => {
    function listener(): void {
      received = received === 0 && !hasBegun ? 2 : received + 1;
      if (received === 1) resolve();
      if (received !== 2) return;
      leaveNow();
      // As shells do: 130 after Ctrl-C.
      process.exit(128 + constants.signals[signal]);
    }
    process.on(signal, listener);
    return () => void process.off(signal, listener);
  });
  return { over, begin: () => void (hasBegun = true), end: () => listeners.forEach((remove) => remove()) };
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
