import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { BatchInput, BatchResult } from '../../contract/messages.ts';
import { LoteError } from '../../domain/errors.ts';
import { configOf } from '../../runtime/config/config.ts';
import { chooseApplication, readInstallation } from '../../runtime/config/installation.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { leaveSoon } from '../../runtime/process/shutdown.ts';
import { checkedFaults, parseFaults, type Faults } from '../../sandbox/faults.ts';
import { namedFiles } from '../../wiring/files/named-file.ts';
import { startEmbedded } from '../../wiring/start/embedded.ts';
import { startReconciliation } from '../../wiring/operator/reconcile-now.ts';
import { rehearsalProfile } from '../../wiring/account/rehearsal-profile.ts';
import { settledCountIn } from '../session/settled-count-in.ts';
import { interruption, type Interruption } from '../session/interruption.ts';
import type { ExitCode } from '../output/exit-codes.ts';
import { printResults } from '../output/print-results.ts';
import { progressLine } from '../output/progress-line.ts';
import { startBatches, waitForBatches } from '../session/run/run-batches.ts';
import { lineWriter } from '../output/terminal-text.ts';

export interface RehearseCommand {
  readonly files: readonly string[];
  readonly faults: string;
  readonly seed: string;
  readonly json: boolean;
  /** Of several applications, the one whose profile and mappings are rehearsed. */
  readonly application?: string;
  readonly options: Omit<BatchInput, 'file' | 'ledgerId'>;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * What would reach a real service, a real ledger, a running Lote or the program of `LOTE_ON_REPORT`, in whatever form it is given (a file of a secret, a profile
 * of Temporal): a rehearsal has none of these. Without these variables no default file of Temporal is read either.
 */
const LEFT_OUT = /^(?:(?:INVOICING|WEBHOOK|DATABASE|TEMPORAL)_|PG[A-Z]|LOTE_ON_REPORT$)/u;

const Report = z.object({
  batch: z.object({ revision: z.number() }),
  counts: z.record(z.string(), z.number()),
});

const EVERYTHING = { recursive: true, force: true };
const INTERRUPTED = 'Interrupted: the rehearsal and its ledger are gone, and nothing was sent to a service.';

/** A night in minutes: nobody waits a quarter of an hour for an invoice that the sandbox was told never to settle. */
const SHORT_TIMES = { LOTE_SETTLE_TIMEOUT: '20s', LOTE_SEND_TIMEOUT: '60s', LOTE_OUTAGE_PATIENCE: '2m' };

/**
 * `lote rehearse FILE`: the real file, read as it would be, against the sandbox with faults, in a ledger that is thrown
 * away. The report is the one that the night would have given; it stays under `<reports>/rehearsal`.
 */
export async function rehearseCommand(command: RehearseCommand): Promise<ExitCode> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-rehearsal-'));
  const interrupt = interruption(INTERRUPTED, () => rmSync(directory, EVERYTHING));
  try {
    return await rehearseIn(directory, command, interrupt);
  } finally {
    await rm(directory, EVERYTHING);
    interrupt.end();
  }
}

async function rehearseIn(directory: string, command: RehearseCommand, interrupt: Interruption): Promise<ExitCode> {
  const own = Object.fromEntries(Object.entries(command.env).filter(([name]) => !LEFT_OUT.test(name)));
  // No key is read: nothing of a rehearsal reaches a service.
  const installation = readInstallation(own, process.cwd(), 'nothing');
  const chosen = chooseApplication(installation, command.application ?? null);
  const { inputDir, reportsDir, serviceProfilePath, sandbox } = chosen;
  const profile = rehearsalProfile({ serviceProfilePath, sandbox }, directory);
  const rehearsal = {
    ...SHORT_TIMES,
    ...own,
    ...profile?.env,
    LOTE_DATA_DIR: join(directory, 'data'),
    LOTE_INPUT_DIR: join(directory, 'input'),
    LOTE_REPORTS_DIR: join(reportsDir, 'rehearsal'),
    ...{ RECEIVER_PORT: '0', CONSOLE_PORT: '0', SANDBOX_PORT: '0' },
  };
  // The only application of a ledger that is thrown away, whatever others there are.
  const config = configOf(rehearsal, process.cwd(), 'requests');
  await takeMappings(inputDir, config.inputDir);
  const log = createLogger({ level: config.logLevel, secrets: config.secrets });
  const notify = lineWriter(command);
  if (profile !== null) notify(profile.note);
  const stack = await startEmbedded({
    ...{ config, log, notify, env: own },
    // Bodies name the merchant's id, and faults go by the bytes: with ids at random no seed would repeat a rehearsal.
    sandbox: { faults: faultsOf(command.faults), seed: command.seed, idsBySeed: true },
    beforeHandOver: () => Promise.resolve(),
    onWork: interrupt.begin,
    onForcedEnd: leaveSoon,
  });
  if (stack === null) throw new LoteError('internal', 'The rehearsal found its own new data directory owned.');
  const ended = Promise.race([stack.lost, interrupt.interrupted]);
  ended.catch(() => undefined);
  try {
    const files = (await namedFiles(inputDir, command.files)).map((file) => resolve(file));
    const { client, ledger } = stack;
    const started = await startBatches({ ...command, files, config, client, ledgerId: ledger.id, ended });
    const results = await waitForBatches(started, {
      progress: progressLine(),
      settledCount: (batchId) => settledCountIn(stack.ledger, batchId),
      ended,
    });
    const reconciling = startReconciliation(stack.client, config, stack.ledger.id).then((run) => run.result());
    await Promise.race([reconciling, ended]);
    const { duplicates, totals } = stack.sandbox?.books() ?? { duplicates: [], totals: { invoices: 0 } };
    notify(`The simulated service's books: ${totals.invoices} invoices, ${duplicates.length} of them twice.`);
    return printResults(await Promise.all(results.map(asReported)), command.json);
  } finally {
    stack.handOver.refuse();
    await stack.stop();
  }
}

/** The mapping profiles by which the night would read the file. */
async function takeMappings(from: string, to: string): Promise<void> {
  await cp(join(from, 'profiles'), join(to, 'profiles'), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** What the report says now: reconciliation may have written it again since the batch ended. */
async function asReported(result: BatchResult): Promise<BatchResult> {
  const { batch, counts } = Report.parse(JSON.parse(await readFile(result.reports.json, 'utf8')));
  return { ...result, counts, revision: batch.revision };
}

function faultsOf(text: string): Faults {
  try {
    return parseFaults(text);
  } catch (cause) {
    const known = Object.keys(checkedFaults()).join(', ');
    throw new LoteError(
      'usage',
      `Rehearsing: --faults must be heavy, none, or a JSON object of the sandbox's faults (${known}).`,
      { cause },
    );
  }
}
