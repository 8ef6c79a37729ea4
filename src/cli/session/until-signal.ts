import { onShutdown } from '../../runtime/process/shutdown.ts';

/** A process that stays until it is told to leave. */
export interface Stay {
  /** Resolves at the first Ctrl-C or SIGTERM that is heard; the second one leaves at once. */
  readonly over: Promise<void>;
  /** Signals are heard from the first call on. Before, one ends the process at once: nothing that it began would have to end. */
  hear(): void;
}

/** `leaveNow` runs before the process leaves at once. */
export function stay(leaveNow: () => void = () => undefined): Stay {
  let isHearing = false;
  let resolve: () => void = () => undefined;
  const over = new Promise<void>((done) => (resolve = done));
  return {
    over,
    hear() {
      if (isHearing) return;
      isHearing = true;
      onShutdown({
        graceful: () => resolve(),
        immediate: (_, exitCode) => {
          leaveNow();
          process.exit(exitCode);
        },
      });
    },
  };
}

/**
 * Resolves at the first Ctrl-C or SIGTERM; the second one leaves at once. Signals are heard from the call on: it comes before the line that says that
 * the process is ready, because whoever reads that line may stop it.
 */
export function untilSignal(): Promise<void> {
  const { over, hear } = stay();
  hear();
  return over;
}
