import { LoteError } from '../../domain/errors.ts';
import { onShutdown } from '../../runtime/process/shutdown.ts';

export interface Interruption {
  /** Rejects at the first Ctrl-C (or SIGTERM) with `interrupted`; never resolves. */
  readonly interrupted: Promise<never>;
  /** The listeners go away. */
  end(): void;
}

/** First signal: the command leaves in order, exit code 130. Second: at once, after `leaveNow`. */
export function interruption(sentence: string, leaveNow: () => void): Interruption {
  let fail: (error: LoteError) => void = () => undefined;
  const interrupted = new Promise<never>((_, reject) => (fail = reject));
  interrupted.catch(() => undefined);
  const end = onShutdown({
    graceful: () => fail(new LoteError('interrupted', sentence)),
    immediate: (_, exitCode) => {
      leaveNow();
      process.exit(exitCode);
    },
  });
  return { interrupted, end };
}
