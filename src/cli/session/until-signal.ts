import { onShutdown } from '../../runtime/process/shutdown.ts';

/** Resolves at the first Ctrl-C or SIGTERM; the second one leaves at once. */
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
