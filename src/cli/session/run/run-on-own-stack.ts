import { hashFile } from '../../../ingest/hash-file.ts';
import type { Config } from '../../../runtime/config/config.ts';
import type { Stack } from '../../../wiring/start/embedded-stack.ts';
import { orphanedLines } from '../../../wiring/operator/orphaned-batches.ts';
import { abortedBy } from '../aborted-by.ts';
import { settledCountIn } from '../settled-count-in.ts';
import type { ExitCode } from '../../output/exit-codes.ts';
import { onOwnStack, type OwnStack } from '../own-stack.ts';
import { printResults } from '../../output/print-results.ts';
import { progressLine } from '../../output/progress-line.ts';
import { startBatches, waitForBatches } from './run-batches.ts';
import type { RunCommand } from './run-command.ts';
import { lineWriter } from '../../output/terminal-text.ts';

/** How a run on its own stack ends at Ctrl-C. */
export const INTERRUPTED =
  'Interrupted: nothing more was sent, and the requests on the wire have been answered or given up. The same command goes on where this one stopped.';

/**
 * This process owns the data directory: it does the work, also what others hand over, and leaves when all of that has
 * ended.
 */
export function runOnOwnStack(own: OwnStack, config: Config, command: RunCommand): Promise<ExitCode> {
  const { stack, interrupt } = own;
  const say = lineWriter({ json: false });
  interrupt.interrupted.catch(() => say('Leaving: requests on the wire end first (Ctrl-C again leaves now) …'));
  return onOwnStack(own, async (ended) => {
    await Promise.race([printLeft(stack, config, command.files, { say, over: abortedBy(ended) }), ended]);
    const { client, ledger } = stack;
    const started = await startBatches({ ...command, config, client, ledgerId: ledger.id, ended });
    const results = await waitForBatches(started, {
      progress: progressLine(),
      settledCount: (batchId) => settledCountIn(ledger, batchId),
      ended,
    });
    const code = printResults(results, command.json);
    if (stack.handOver.open > 0) say('Done. Staying until what other commands handed over has ended …');
    await Promise.race([stack.handOver.finish(), ended]);
    return code;
  });
}

async function printLeft(
  stack: Stack,
  config: Config,
  files: readonly string[],
  { say, over }: { readonly say: (line: string) => void; readonly over: AbortSignal },
): Promise<void> {
  const own = new Set(await Promise.all(files.map((file) => hashFile(file, over))));
  const lines = await orphanedLines(stack, own, config);
  // What a stack that is taken down cannot read any more is no news to who has ended it.
  if (!over.aborted) for (const line of lines) say(line);
}
