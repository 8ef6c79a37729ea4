import { startReconciliation } from '../../../wiring/operator/reconcile-now.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { reconciliationText } from '../../output/reconciliation-text.ts';
import { lineWriter } from '../../output/terminal-text.ts';
import { awaitRun } from '../../session/await-run.ts';
import { type BackendCommand, withBackend } from '../../session/with-backend.ts';

/** `lote reconcile`: whatever batches left open is looked at now, due or not. */
export async function reconcileCommand(command: BackendCommand): Promise<ExitCode> {
  return withBackend(command, async ({ client, config, ledgerId, ended }) => {
    const run = await Promise.race([startReconciliation(client, config, ledgerId), ended]);
    const result = await awaitRun(run, { workflowId: run.workflowId, ended, notify: lineWriter(command) });
    process.stdout.write(command.json ? `${JSON.stringify({ reconciliation: result })}\n` : reconciliationText(result));
    return result.serviceAway ? EXIT.unreachable : EXIT.ok;
  });
}
