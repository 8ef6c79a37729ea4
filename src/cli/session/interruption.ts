import { LoteError } from '../../domain/errors.ts';
import { onShutdown } from '../../runtime/process/shutdown.ts';

/** Ctrl-C of a command that would otherwise run to its own end. */
export interface Interruption {
  /** Rejects at the first Ctrl-C (or SIGTERM) after `begin`, with `interrupted`; never resolves. */
  readonly interrupted: Promise<never>;
  /** From here on there is work that must end in order. Before, the first signal ends the process at once. */
  begin(): void;
  /** The listeners go away. */
  end(): void;
}

/** First signal: the command leaves in order, exit code 130. Second: at once, after `leaveNow`. */
export function interruption(sentence: string, leaveNow: () => void): Interruption {
  let fail: (error: LoteError) => void = () => undefined;
  let hasBegun = false;
  const interrupted = new Promise<never>((_, reject) => (fail = reject));
  interrupted.catch(() => undefined);
  const end = onShutdown({
    hasWork: () => hasBegun,
    graceful: () => fail(new LoteError('interrupted', sentence)),
    immediate: (_, exitCode) => {
      leaveNow();
      process.exit(exitCode);
    },
  });
  return { interrupted, begin: () => void (hasBegun = true), end };
}

/** An interruption of work that begins here. */
export function interruptionFromNow(sentence: string, leaveNow: () => void): Interruption {
  const interrupt = interruption(sentence, leaveNow);
  interrupt.begin();
  return interrupt;
}
