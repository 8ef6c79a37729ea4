import type { BatchResult } from '../../contract/messages.ts';
import { batchExitCode } from './batch-exit-code.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { summaryTable } from './summary-table.ts';

/** The end of a command that waited for batches; of several, the worst decides the exit code. */
export function printResults(results: readonly BatchResult[], json: boolean): ExitCode {
  if (json) process.stdout.write(`${JSON.stringify({ batches: results.map((result) => documentOf(result)) })}\n`);
  else for (const result of results) process.stdout.write(`${summaryTable(result)}\n`);
  return results.reduce<ExitCode>((worst, result) => {
    const code = batchExitCode(result);
    return code > worst ? code : worst;
  }, EXIT.ok);
}

function documentOf(result: BatchResult) {
  const { batchId, file, state, counts, reports, attachedTo, revision, changes, retried, totalsDiffer } = result;
  return {
    ...{ id: batchId, file, state, exitCode: batchExitCode(result), counts, reports },
    ...(totalsDiffer === undefined ? {} : { totalsDiffer }),
    ...(attachedTo === undefined ? {} : { attachedTo }),
    ...(revision === undefined ? {} : { revision }),
    ...(changes === undefined ? {} : { changes }),
    ...(retried === undefined ? {} : { retried }),
  };
}
