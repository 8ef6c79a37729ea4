import { LoteError } from '../../domain/errors.ts';
import { onShutdown } from '../../runtime/process/shutdown.ts';

/** Ctrl-C of a command that would otherwise run to its own end. */
export interface Interruption {
  /** Rejects at the first Ctrl-C (or SIGTERM) that is heard, with `interrupted`; never resolves. */
  readonly interrupted: Promise<never>;
  /** Signals are heard from the first call on. Before, one ends the process at once: nothing that it began would have to end. */
  hear(): void;
  /** The listeners go away. */
  end(): void;
}

/** First signal: the command leaves in order, exit code 130. Second: at once, after `leaveNow`. */
export function interruption(sentence: string, leaveNow: () => void): Interruption {
  let fail: (error: LoteError) => void = () => undefined;
  let end: (() => void) | null = null;
  const interrupted = new Promise<never>((_, reject) => (fail = reject));
  interrupted.catch(() => undefined);
  return {
    interrupted,
    hear() {
      end ??= onShutdown({
        graceful: () => fail(new LoteError('interrupted', sentence)),
        immediate: (_, exitCode) => {
          leaveNow();
          process.exit(exitCode);
        },
      });
    },
    end: () => end?.(),
  };
}

/** An interruption that is heard from here on. */
export function interruptionFromNow(sentence: string, leaveNow: () => void): Interruption {
  const interrupt = interruption(sentence, leaveNow);
  interrupt.hear();
  return interrupt;
}
