import { createInterface } from 'node:readline/promises';
import { LoteError } from '../../../domain/errors.ts';
import type { UnusualTotal } from '../../../domain/messages/messages.ts';
import { createBatchOperator } from '../../../app/operator/operate-batch.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { printResults } from '../../output/summary-table.ts';
import { requireBatch } from '../../session/open-session.ts';
import { fetchProgress, followBatch } from '../../session/follow-batches.ts';
import { withWork } from '../../session/work-session.ts';

interface ConfirmTotalCommand {
  readonly batch: string;
  /** Optional: by default the command shows the total and asks for this number on the terminal. */
  readonly invoices?: number;
  readonly reason: string;
  readonly who?: string;
  readonly json: boolean;
}

/** `lote confirm-total BATCH`: sends a batch that is held because of its total. Ends like `run`. */
export async function confirmTotalCommand(
  env: NodeJS.ProcessEnv,
  { batch: batchId, reason, who, json, ...given }: ConfirmTotalCommand,
): Promise<ExitCode> {
  return withWork({ json, env }, async (session) => {
    const { workflowId } = await Promise.race([requireBatch(session.operations, batchId), session.ended]);
    const handle = session.client.workflow.getHandle(workflowId);
    const invoices = given.invoices ?? (await askNumber((await fetchProgress(handle))?.unusual));
    if (invoices === null) {
      process.stderr.write('Not confirmed: nothing was sent.\n');
      return EXIT.someNotIssued;
    }
    const operate = createBatchOperator({ client: session.client, taskQueue: session.config.taskQueue });
    const answer = await operate(workflowId, { kind: 'confirmTotal', invoices, reason }, who);
    process.stderr.write(`${answer}\n`);
    return printResults([await followBatch(session, batchId, workflowId)], json);
  });
}

/** Shows the total and asks for the number. Returns null if the answer is not a number. */
async function askNumber(unusual: UnusualTotal | undefined): Promise<number | null> {
  if (!process.stdin.isTTY)
    throw new LoteError(
      'usage',
      'Confirming a total: no person can be asked, because standard input is not a terminal. Nothing was sent. Give the number of invoices: --invoices N.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if (unusual !== undefined) process.stderr.write(`${unusual.difference}\n`);
    const typed = (await terminal.question('If that is right, type the number of invoices: ')).trim();
    return /^\d{1,9}$/.test(typed) ? Number(typed) : null;
  } finally {
    terminal.close();
  }
}
