import { onShutdown } from '../../runtime/process/shutdown.ts';

/**
 * Resolves at the first Ctrl-C or SIGTERM; the second one leaves at once. Signals are heard from the call on: it comes before the line that says that
 * the process is ready, because whoever reads that line may stop it.
 */
export function untilSignal(leaveNow: () => void = () => undefined): Promise<void> {
  return new Promise((resolve) => {
    onShutdown({
      graceful: () => resolve(),
      immediate: (_, exitCode) => {
        leaveNow();
        process.exit(exitCode);
      },
    });
  });
}
