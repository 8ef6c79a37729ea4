import { onShutdown } from '../../runtime/process/shutdown.ts';

/** A process that stays until it is told to leave. */
export interface Stay {
  /** Resolves at the first Ctrl-C or SIGTERM after `begin`; the second one leaves at once. */
  readonly over: Promise<void>;
  /**
   * From here on there is work that must end in order. Before, the first signal ends the process at once. It comes before the line that says that the
   * process is ready: whoever reads that line may stop it.
   */
  begin(): void;
  /** The listeners go away. */
  end(): void;
}

/** Signals are heard from the call on. `leaveNow` runs before the process leaves at once. */
export function stay(leaveNow: () => void = () => undefined): Stay {
  let hasBegun = false;
  let resolve: () => void = () => undefined;
  const over = new Promise<void>((done) => (resolve = done));
  const end = onShutdown({
    hasWork: () => hasBegun,
    graceful: () => resolve(),
    immediate: (_, exitCode) => {
      leaveNow();
      process.exit(exitCode);
    },
  });
  return { over, begin: () => void (hasBegun = true), end };
}
