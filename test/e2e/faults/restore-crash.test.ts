import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RESTORE_CRASH_POINTS } from '../../../src/wiring/start/crash-points.ts';
import { endLeftServer } from '../../support/crash/crash-place.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { newPlace, type CommandEnd } from '../../support/lote/lote-command.ts';
import { processes } from '../../support/lote/processes.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';

const INVOICES = 20;

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
  const file = join(place.inputDir, 'night.csv');
  await writeInvoiceFile(file, { invoices: INVOICES });
  const env = await sandboxEnv(place, sandbox);
  const run = (options: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<CommandEnd> =>
    all.start(['run', file, '--json', ...options], { ...env, ...more }).end;
  const held = await run(['--expect-invoices', String(INVOICES + 1)]);
  expect(held.code, held.stderr).toBe(1);
  await rm(place.dataDir, { recursive: true });
  return { sandbox, run };
}

it('a run that ends itself while it takes up a report that its ledger does not know sends nothing of what that report calls held', async () => {
  const { sandbox, run } = await heldAndLost();
  for (const point of RESTORE_CRASH_POINTS) {
    const { signal, code, stderr } = await run([], { LOTE_CRASH_AT: point });
    expect(signal, `${point} was not reached: exit ${code}, ${stderr}`).toBe('SIGKILL');
  }

  const { code, stdout, stderr } = await run([]);

  expect(code, stderr).toBe(1);
  expect(sandbox.books().totals).toMatchObject({ invoices: 0 });
  const { batches } = JSON.parse(stdout) as { batches: readonly { readonly reports: { readonly json: string } }[] };
  const report = JSON.parse(await readFile(batches[0]?.reports.json ?? '', 'utf8')) as {
    readonly invoices: readonly { readonly state: string; readonly flags: readonly string[] }[];
  };
  expect(report.invoices.map(({ state, flags }) => `${state} ${flags.join()}`)).toEqual(
    Array.from({ length: INVOICES }, () => 'held older-ledger'),
  );
}, 400_000);
