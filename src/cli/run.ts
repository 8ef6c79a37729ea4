import { OPEN_STATES } from '../domain/invoice-state.ts';
import type { Ledger } from '../domain/ports/ledger.ts';
import { readConfig, type Config } from '../runtime/config.ts';
import { openDataDir } from '../runtime/data-dir.ts';
import { readEndpoints } from '../runtime/endpoints.ts';
import { createLogger } from '../runtime/logger.ts';
import { LoteError } from '../domain/errors.ts';
import { connectClient, startEmbedded, type Stack } from '../wiring/embedded.ts';
import { bringIn } from '../wiring/input-files.ts';
import { requireProfile } from '../wiring/read-with-profile.ts';
import type { BatchInput, BatchResult } from '../../workflows/messages.ts';
import { batchExitCode } from './batch-exit-code.ts';
import { batchFailure } from './batch-failure.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { requireOneFileForTotals } from './expectations.ts';
import { preflight } from './preflight.ts';
import { progressLine } from './progress-line.ts';
import { runBatches } from './run-batches.ts';
import { summaryTable } from './summary-table.ts';

export interface RunCommand {
  readonly files: readonly string[];
  readonly json: boolean;
  readonly options: Omit<BatchInput, 'file' | 'ledgerId'>;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote run FILE…`: start, progress, wait, summary. Boots what is not there and takes it down again. */
export async function runCommand(command: RunCommand): Promise<ExitCode> {
  const config = readConfig(command.env);
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const tell = (line: string): void => void (command.json || process.stderr.write(`${line}\n`));
  requireOneFileForTotals(command.files, command.options);
  for (const file of command.files) await requireProfile(config.inputDir, file, command.options);
  for (const file of command.files) await bringIn(config.inputDir, file);
  const stack = await startEmbedded({
    config,
    log,
    tell,
    env: command.env,
    beforeSending: (service) => preflight(service, Date.now),
  });
  const results = stack === null ? await runThroughOwner(config, command) : await runOnOwnStack(stack, config, command);
  print(results, command.json);
  return worst(results.map((result) => batchExitCode(result)));
}

async function runOnOwnStack(stack: Stack, config: Config, command: RunCommand): Promise<readonly BatchResult[]> {
  try {
    return await runBatches({
      config,
      client: stack.client,
      ledgerId: stack.ledger.id,
      files: command.files,
      options: command.options,
      progress: progressLine(process.stderr),
      atRest: (batchId) => atRest(stack.ledger, batchId),
    }).catch((error: unknown) => {
      throw batchFailure(error);
    });
  } finally {
    await stack.stop();
  }
}

/** Another process has the data directory: its worker does the work, this one starts it and waits. */
async function runThroughOwner(config: Config, command: RunCommand): Promise<readonly BatchResult[]> {
  const owner = await readEndpoints(await openDataDir(config.dataDir));
  if (owner === null) {
    throw new LoteError(
      'data-directory-owned',
      `Another process owns ${config.dataDir} and has not told its addresses yet. Try again in a moment.`,
    );
  }
  const client = await connectClient(owner.temporalAddress, owner.temporalNamespace);
  try {
    return await runBatches({
      config,
      client,
      ledgerId: null,
      files: command.files,
      options: command.options,
      progress: progressLine(process.stderr),
      atRest: () => Promise.resolve(0),
    }).catch((error: unknown) => {
      throw batchFailure(error);
    });
  } finally {
    await client.connection.close();
  }
}

async function atRest(ledger: Ledger, batchId: string): Promise<number> {
  const counts = await ledger.countOutcomes(batchId);
  const open = new Set<string>(OPEN_STATES);
  return counts.reduce((sum, { outcome, invoices }) => sum + (open.has(outcome) ? 0 : invoices), 0);
}

function print(results: readonly BatchResult[], json: boolean): void {
  if (!json) {
    for (const result of results) process.stdout.write(`${summaryTable(result)}\n`);
    return;
  }
  const batches = results.map((result) => ({
    id: result.batchId,
    file: result.file,
    state: result.state,
    exitCode: batchExitCode(result),
    counts: result.counts,
    reports: result.reports,
    ...(result.attachedTo === undefined ? {} : { attachedTo: result.attachedTo }),
  }));
  process.stdout.write(`${JSON.stringify({ batches })}\n`);
}

function worst(codes: readonly ExitCode[]): ExitCode {
  return codes.reduce<ExitCode>((highest, code) => (code > highest ? code : highest), EXIT.ok);
}
