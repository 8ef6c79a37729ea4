import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { BatchResult } from '../../domain/messages/messages.ts';
import { LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../app/config/config.ts';
import { checkedFaults, parseFaults, type Faults } from '../../sandbox/faults.ts';
import { namedFiles } from '../../app/files/input-files.ts';
import { startReconciliation } from '../../app/schedules/reconciliation-schedule.ts';
import type { ExitCode } from '../output/exit-codes.ts';
import { printResults } from '../output/summary-table.ts';
import { lineWriter } from '../output/terminal-text.ts';
import { followBatches } from '../session/follow-batches.ts';
import { type WorkCommand, withWork } from '../session/work-session.ts';
import type { ReadingCommand } from '../session/expectations.ts';

/**
 * Variables that lead to a real service, ledger, running Lote or `LOTE_ON_REPORT` program, in any form (a secret's
 * file, a Temporal profile), or say how a real service speaks: a rehearsal gets none. Without them, Lote reads no
 * default file of Temporal either.
 */
const LEFT_OUT = /^(?:(?:INVOICING|WEBHOOK|DATABASE|TEMPORAL)_|PG[A-Z]|(?:LOTE_ON_REPORT|SERVICE_PROFILE)$)/u;

const Report = z.object({
  batch: z.object({ revision: z.number() }),
  counts: z.record(z.string(), z.number()),
});

const EVERYTHING = { recursive: true, force: true };
const INTERRUPTED = 'Interrupted: the rehearsal and its ledger are gone, and nothing was sent to a service.';

/** A rehearsed night takes minutes: Lote does not wait a quarter of an hour for an invoice that the sandbox never settles. */
const SHORT_TIMES = { LOTE_SETTLE_TIMEOUT: '20s', LOTE_SEND_TIMEOUT: '60s', LOTE_OUTAGE_PATIENCE: '2m' };

/**
 * `lote rehearse FILE`: reads the real file as a run would and sends it to the sandbox with faults, in a temporary
 * ledger. The report is the one that the night would have given; it stays under `<reports>/rehearsal`.
 */
export async function rehearseCommand(env: NodeJS.ProcessEnv, command: RehearseCommand): Promise<ExitCode> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-rehearsal-'));
  try {
    return await rehearseIn(directory, env, command);
  } finally {
    await rm(directory, EVERYTHING);
  }
}

type RehearseCommand = ReadingCommand & { readonly faults: string; readonly seed: string };

async function rehearseIn(
  directory: string,
  env: NodeJS.ProcessEnv,
  { files: names, json, faults, seed, ...options }: RehearseCommand,
): Promise<ExitCode> {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !LEFT_OUT.test(name)));
  // Reads no key, because a rehearsal sends nothing to a service.
  const { inputDir, reportsDir } = readConfig(own, process.cwd(), 'nothing');
  const rehearsal = {
    ...SHORT_TIMES,
    ...own,
    LOTE_DATA_DIR: join(directory, 'data'),
    LOTE_INPUT_DIR: join(directory, 'input'),
    LOTE_REPORTS_DIR: join(reportsDir, 'rehearsal'),
    ...{ RECEIVER_PORT: '0', CONSOLE_PORT: '0', SANDBOX_PORT: '0' },
  };
  const config = readConfig(rehearsal);
  await takeMappings(inputDir, config.inputDir);
  const notify = lineWriter({ json });
  const files = (await namedFiles(inputDir, names)).map((file) => resolve(file));
  const work: WorkCommand = {
    ...{ json, env: own, config, interrupted: () => INTERRUPTED },
    onLeaveNow: () => rmSync(directory, EVERYTHING),
    // Bodies contain the merchant's id and faults depend on the bytes: with random ids no seed would repeat a rehearsal.
    sandbox: { faults: faultsOf(faults), seed },
  };
  return withWork(work, async (session) => {
    const { client, ledgerId, stack, ended } = session;
    const results = await followBatches(session, await session.start(files, options));
    const reconciling = startReconciliation(client, config, ledgerId).then((run) => run.result());
    await Promise.race([reconciling, ended]);
    const { duplicates, totals } = stack?.sandbox?.books() ?? { duplicates: [], totals: { invoices: 0 } };
    notify(`The simulated service's books: ${totals.invoices} invoices, ${duplicates.length} of them twice.`);
    return printResults(await Promise.all(results.map(asReported)), json);
  });
}

async function takeMappings(from: string, to: string): Promise<void> {
  await cp(join(from, 'profiles'), join(to, 'profiles'), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Returns the counts of the current report: reconciliation may have rewritten the report since the batch ended. */
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
