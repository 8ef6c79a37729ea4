import { waitingFor } from '../../../platform/waiting-for.ts';
import { startReconciliation } from '../../../app/schedules/reconciliation-schedule.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { lineWriter, printResult } from '../../output/terminal-text.ts';
import { awaitRun } from '../../session/follow-batches.ts';
import { withWork } from '../../session/work-session.ts';
import type { ReconciliationResult } from '../../../domain/messages/messages.ts';

/** Formats the output of `lote reconcile`: its results, line by line, and why something was left. */
export function reconciliationText(result: ReconciliationResult): string {
  const { repeated, found, asked, settled, orphans, stopped, reports, serviceAway, profileFoundWrong } = result;
  const closed = `Batches without a run closed ${orphans.length}: ${orphans.join(', ')}. Read their reports.`;
  const left = `Stopped batches with unknown invoices ${stopped.length}: ${stopped.join(', ')}. None of them was repeated: run the file again, or retry the invoices by --ref, to continue.`;
  const why = profileFoundWrong
    ? 'The rest was not asked for: the service profile was found to be wrong, and `lote status` says how. Correct it and start Lote again.'
    : 'The service did not answer; the rest waits for the next time.';
  return [
    ...(orphans.length === 0 ? [] : [closed]),
    ...(stopped.length === 0 ? [] : [left]),
    `Unknown invoices repeated ${repeated}, of them found ${found}`,
    `Documents asked for ${asked}, of them settled ${settled}`,
    `Reports written again ${reports.length}${reports.length === 0 ? '' : `: ${reports.join(', ')}`}`,
    ...(serviceAway ? [why] : []),
    '',
  ].join('\n');
}

/** `lote reconcile`: looks now at everything that batches left open, due or not. */
export async function reconcileCommand(
  env: NodeJS.ProcessEnv,
  { json }: { readonly json: boolean },
): Promise<ExitCode> {
  return withWork({ json, env }, async ({ client, config, ledgerId, ended }) => {
    const starting = () => Promise.race([startReconciliation(client, config, ledgerId), ended]);
    const run = await waitingFor('Temporal', starting);
    const notify = lineWriter({ json });
    const result = await awaitRun(run, ended, (reason) => notify(`${run.workflowId}: ${reason}`));
    printResult(json, { reconciliation: result }, () => reconciliationText(result));
    return result.serviceAway ? EXIT.unreachable : EXIT.ok;
  });
}
