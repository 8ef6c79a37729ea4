import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { RESTORE_CRASH_POINTS } from '../../../src/wiring/start/crash-points.ts';
import { endLeftServer } from '../../support/crash/crash-place.ts';
import { ownName, testInvoices } from '../../support/files/batch-file.ts';
import { newPlace, type CommandEnd, type Place } from '../../support/lote/lote-command.ts';
import { processes } from '../../support/lote/processes.ts';
import { restorableLote } from '../../support/lote/restorable-lote.ts';
import { shareCallContext } from '../../support/lote/shared-connection.ts';
import { shareWorkflowThread } from '../../support/lote/shared-workflow-thread.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';

shareWorkflowThread(inject('workflowBundle'));
shareCallContext();

const INVOICES = 20;
/** Five processes start one after the other, and four of them first wait for what the one before has left behind: three minutes on a busy machine. */
const PATIENCE_MS = 600_000;

/** In this process, which has the product loaded, and on the run's Temporal server: what ends itself starts on one of its own. */
async function holdAll(place: Place, env: Readonly<Record<string, string>>): Promise<void> {
  const lote = await restorableLote({
    ...{ directory: place.directory, dataDir: place.dataDir, postgresUrl: null },
    env: { ...env, TEMPORAL_ADDRESS: inject('temporalAddress'), LOTE_TASK_QUEUE: ownName('held') },
  });
  try {
    await lote.start();
    const batch = await lote.drop('night.csv', testInvoices(INVOICES), { expectInvoices: INVOICES + 1 });
    expect((await batch.result()).counts).toMatchObject({ held: INVOICES });
  } finally {
    await lote.remove();
  }
}

/** A file of which everything was held, and whose ledger is lost: only its report says so. */
async function heldAndLost() {
  const place = await newPlace();
  const all = processes();
  const sandbox = await independentSandbox({ settleMs: 20 });
  onTestFinished(async () => {
    await all.killAll();
    await endLeftServer(place.dataDir);
    await sandbox.close();
    await place.remove();
  });
  const env = { ...(await sandboxEnv(place, sandbox)), LOTE_APPLICATION: ownName('held') };
  await holdAll(place, env);
  await rm(place.dataDir, { recursive: true });
  const run = (more: Readonly<Record<string, string>> = {}): Promise<CommandEnd> =>
    all.start(['run', join(place.inputDir, 'night.csv'), '--json'], { ...env, ...more }).end;
  return { sandbox, run };
}

it(
  'a run that ends itself while it takes up a report that its ledger does not know sends nothing of what that report calls held',
  async () => {
    const { sandbox, run } = await heldAndLost();
    for (const point of RESTORE_CRASH_POINTS) {
      const { signal, code, stderr } = await run({ LOTE_CRASH_AT: point });
      expect(signal, `${point} was not reached: exit ${code}, ${stderr}`).toBe('SIGKILL');
    }

    const { code, stdout, stderr } = await run();

    expect(code, stderr).toBe(1);
    expect(sandbox.books().totals).toMatchObject({ invoices: 0 });
    const { batches } = JSON.parse(stdout) as { batches: readonly { readonly reports: { readonly json: string } }[] };
    const report = JSON.parse(await readFile(batches[0]?.reports.json ?? '', 'utf8')) as {
      readonly invoices: readonly { readonly state: string; readonly flags: readonly string[] }[];
    };
    expect(report.invoices.map(({ state, flags }) => `${state} ${flags.join()}`)).toEqual(
      Array.from({ length: INVOICES }, () => 'held older-ledger'),
    );
  },
  PATIENCE_MS,
);
