import { createInterface } from 'node:readline/promises';
import { LoteError } from '../../../domain/errors.ts';
import type { UnusualTotal } from '../../../contract/messages.ts';
import { confirmBatchTotal } from '../../../wiring/operator/operate-batch.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { printResults } from '../../output/print-results.ts';
import { fetchProgress } from '../../session/run/run-batches.ts';
import { waitForBatch } from '../../session/wait-for-batch.ts';
import { withBackend } from '../../session/with-backend.ts';

export interface ConfirmTotalCommand {
  readonly batchId: string;
  /** Null: asked for on the terminal, after the total has been shown. */
  readonly invoices: number | null;
  readonly reason: string;
  readonly who: string | null;
  /** `--application`; left out: there is one. */
  readonly application?: string;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote confirm-total BATCH`: a batch that is held because of its total is sent. Ends like `run`. */
export async function confirmTotalCommand(command: ConfirmTotalCommand): Promise<ExitCode> {
  const { batchId, reason, who } = command;
  return withBackend(command, async (backend) => {
    const workflowId = await Promise.race([backend.workflowOf(batchId), backend.ended]);
    const handle = backend.client.workflow.getHandle(workflowId);
    const invoices = command.invoices ?? (await askNumber((await fetchProgress(handle))?.unusual));
    if (invoices === null) {
      process.stderr.write('Not confirmed: nothing was sent.\n');
      return EXIT.someNotIssued;
    }
    const input = { invoices, reason, ...(who === null ? {} : { who }) };
    const place = { client: backend.client, taskQueue: backend.config.taskQueue };
    process.stderr.write(`${await confirmBatchTotal(place, workflowId, input)}\n`);
    return printResults([await waitForBatch(backend, batchId, workflowId)], command.json);
  });
}

/** Shows the total and asks for the number; null: what was typed is no number. */
async function askNumber(unusual: UnusualTotal | undefined): Promise<number | null> {
  if (!process.stdin.isTTY)
    throw new LoteError(
      'usage',
      'Confirming a total: nobody can be asked here, because standard input is not a terminal. Nothing was sent. Give the number of invoices: --invoices N.',
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
