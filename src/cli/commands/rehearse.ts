import { rmSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { BatchResult } from '../../domain/messages/messages.ts';
import { LoteError } from '../../domain/errors.ts';
import { type Config, readConfig } from '../../app/config/config.ts';
import { checkedFaults, parseFaults, type Faults } from '../../sandbox/faults.ts';
import { namedFiles } from '../../app/files/input-files.ts';
import { startReconciliation } from '../../app/schedules/reconciliation-schedule.ts';
import type { ExitCode } from '../output/exit-codes.ts';
import { printResults } from '../output/summary-table.ts';
import { lineWriter } from '../output/terminal-text.ts';
import { followBatches } from '../session/follow-batches.ts';
import { type WorkCommand, withWork } from '../session/work-session.ts';
import { readProfile } from '../../app/account/read-profile.ts';
import type { ReadingCommand } from '../session/expectations.ts';

const NOTE =
  'The service profile is valid. Its limits and retry hold in this rehearsal; everything else is as the sandbox has it.';

/**
 * Checks the configured profile as a run does, and writes the part of it that the sandbox can honour into a folder. Returns
 * the path; null when none is configured.
 * @throws LoteError `configuration-invalid` when the profile cannot be read or is wrong.
 */
export function rehearsalProfile(
  { serviceProfilePath }: Pick<Config, 'serviceProfilePath'>,
  directory: string,
): string | null {
  if (serviceProfilePath === null) return null;
  const { limits, retry } = readProfile({ serviceProfilePath });
  const path = join(directory, 'service-profile.json');
  writeFileSync(path, JSON.stringify({ limits, retry }));
  return path;
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

/** A night in minutes: an invoice that the sandbox never settles is not waited for a quarter of an hour. */
const SHORT_TIMES = { LOTE_SETTLE_TIMEOUT: '20s', LOTE_SEND_TIMEOUT: '60s', LOTE_OUTAGE_PATIENCE: '2m' };

/**
 * `lote rehearse FILE`: the real file, read as it would be, against the sandbox with faults, in a ledger that is thrown
 * away. The report is the one that the night would have given; it stays under `<reports>/rehearsal`.
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
  // No key is read: nothing of a rehearsal reaches a service.
  const { inputDir, reportsDir, serviceProfilePath } = readConfig(own, process.cwd(), 'nothing');
  const profile = rehearsalProfile({ serviceProfilePath }, directory);
  const rehearsal = {
    ...SHORT_TIMES,
    ...own,
    ...(profile === null ? {} : { SERVICE_PROFILE: profile }),
    LOTE_DATA_DIR: join(directory, 'data'),
    LOTE_INPUT_DIR: join(directory, 'input'),
    LOTE_REPORTS_DIR: join(reportsDir, 'rehearsal'),
    ...{ RECEIVER_PORT: '0', CONSOLE_PORT: '0', SANDBOX_PORT: '0' },
  };
  const config = readConfig(rehearsal);
  await takeMappings(inputDir, config.inputDir);
  const notify = lineWriter({ json });
  if (profile !== null) notify(NOTE);
  const files = (await namedFiles(inputDir, names)).map((file) => resolve(file));
  const work: WorkCommand = {
    ...{ json, env: own, config, interrupted: () => INTERRUPTED },
    onLeaveNow: () => rmSync(directory, EVERYTHING),
    // Bodies name the merchant's id, and faults go by the bytes: with ids at random no seed would repeat a rehearsal.
    sandbox: { faults: faultsOf(faults), seed, idsBySeed: true },
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
