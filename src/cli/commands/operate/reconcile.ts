import type { ReconciliationResult } from '../../../contract/messages.ts';
import { startReconciliation } from '../../../wiring/operator/reconcile-now.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { lineWriter } from '../../output/terminal-text.ts';
import { awaitRun } from '../../session/await-run.ts';
import { type BackendCommand, withBackend } from '../../session/with-backend.ts';

/** `lote reconcile`: whatever batches left open is looked at now, due or not. */
export async function reconcileCommand(command: BackendCommand): Promise<ExitCode> {
  return withBackend(command, async ({ client, config, ledgerId, ended }) => {
    const run = await Promise.race([startReconciliation(client, config, ledgerId), ended]);
    const result = await awaitRun(run, { workflowId: run.workflowId, ended, notify: lineWriter(command) });
    process.stdout.write(command.json ? `${JSON.stringify({ reconciliation: result })}\n` : textOf(result));
    return result.serviceAway ? EXIT.unreachable : EXIT.ok;
  });
}

function textOf(result: ReconciliationResult): string {
  const { repeated, found, asked, settled, orphans, reports, serviceAway } = result;
  return [
    ...(orphans.length === 0 ? [] : [closed(orphans)]),
    `Unknown invoices repeated ${repeated}, of them found ${found}`,
    `Documents asked for ${asked}, of them settled ${settled}`,
    `Reports written again ${reports.length}${reports.length === 0 ? '' : `: ${reports.join(', ')}`}`,
    ...(serviceAway ? ['The service did not answer; the rest waits for the next time.'] : []),
    '',
  ].join('\n');
}

/** Nothing of them is repeated by the run that closes them. */
function closed(orphans: readonly string[]): string {
  return `Batches without a run closed ${orphans.length}: ${orphans.join(', ')}. What they left unknown was not repeated: read their reports, then reconcile once more.`;
}
