import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { newPlace, runLote, type CommandEnd, type Place } from '../../support/lote/lote-command.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';

interface RunDocument {
  readonly batches: readonly {
    readonly id: string;
    readonly state: string;
    readonly exitCode: number;
    readonly counts: Readonly<Record<string, number>>;
    readonly reports: { readonly json: string; readonly corrections: string | null };
  }[];
  readonly error?: { readonly code: string; readonly message: string };
}

function documentOf(stdout: string): RunDocument {
  return JSON.parse(stdout) as RunDocument;
}

describe('lote run', () => {
  let place: Place;
  let sandbox: Sandbox;
  let env: Readonly<Record<string, string>>;
  let mixed: string;
  /** Of `mixed`, the first of all. */
  let first: CommandEnd;

  beforeAll(async () => {
    place = await newPlace();
    sandbox = await independentSandbox();
    env = {
      ...(await sandboxEnv(place, sandbox)),
      LOTE_SETTLE_TIMEOUT: '20s',
    };
    mixed = join(place.inputDir, 'mixed.csv');
    await writeInvoiceFile(mixed, { invoices: 40, failing: [3, 17], invalid: [5] });
    first = await runLote(['run', mixed, '--json'], env);
  });

  afterAll(async () => {
    await sandbox.close();
    await place.remove();
  });

  it('issues every valid invoice once and names the others in a report that balances', async () => {
    expect(first.code, first.stderr).toBe(1);
    const [batch] = documentOf(first.stdout).batches;
    expect(batch).toMatchObject({
      state: 'finished',
      exitCode: 1,
      counts: { invoices: 40, issued: 37, failed: 2, invalid: 1, rows: 40 },
    });
    expect(sandbox.books().duplicates).toEqual([]);
    expect(sandbox.books().totals).toMatchObject({ invoices: 39, issued: 37, failed: 2, deliveriesPending: 0 });
    const report = JSON.parse(await readFile(batch?.reports.json ?? '', 'utf8')) as {
      schema: string;
      invoices: readonly { state: string; serviceId: string | null }[];
    };
    expect(report.schema).toBe('lote.report/1');
    expect(
      report.invoices.filter(({ state }) => state === 'issued').every(({ serviceId }) => serviceId?.startsWith('inv_')),
    ).toBe(true);
    expect(await readFile(batch?.reports.corrections ?? '', 'utf8')).toContain('muitos');
  });

  it('takes the same bytes under another name for the same batch, refuses a file without the required columns with a report, and sends nothing', async () => {
    const renamed = join(place.inputDir, 'renamed.csv');
    await writeFile(renamed, await readFile(mixed));
    const columns = join(place.inputDir, 'columns.csv');
    await writeFile(columns, 'a,b\n1,2\n');
    const sent = sandbox.books().totals.invoices;

    // One start for both: each file has an exit code of its own, and the run ends with the graver one.
    const run = await runLote(['run', renamed, columns, '--json'], env);

    expect(run.code, run.stderr).toBe(2);
    const [before] = documentOf(first.stdout).batches;
    const [again, refused] = documentOf(run.stdout).batches;
    expect(again).toMatchObject({ id: before?.id, exitCode: 1, counts: before?.counts });
    expect(refused).toMatchObject({ state: 'refused', exitCode: 2 });
    const report = JSON.parse(await readFile(refused?.reports.json ?? '', 'utf8')) as {
      invoices: unknown[];
      fileFindings: unknown[];
    };
    expect(report.invoices).toEqual([]);
    expect(report.fileFindings.length).toBeGreaterThan(0);
    expect(sandbox.books().totals.invoices).toBe(sent);
  });

  it('ends with 64 when the file is missing, before anything is started', async () => {
    const run = await runLote(['run', join(place.inputDir, 'nowhere.csv'), '--json'], env);

    expect(run.code).toBe(64);
    expect(documentOf(run.stdout)).toMatchObject({ batches: [], error: { code: 'file-unreadable' } });
    expect(run.stderr).toContain('there is no such file');
  });

  it('ends with 3 when the service refuses the key, and leaves no batch', async () => {
    const file = join(place.inputDir, 'wrong-key.csv');
    await writeInvoiceFile(file, { invoices: 2 });
    const sent = sandbox.books().totals.invoices;

    // A data directory of its own: one that knows another key refuses the change before it asks the service.
    const fresh = { ...env, ...sharedTemporal(), LOTE_DATA_DIR: `${place.dataDir}-wrong-key` };
    const run = await runLote(['run', file, '--json'], { ...fresh, INVOICING_API_KEY: 'sk_test_wrong' });
    const status = await runLote(['status', '--json'], fresh);

    expect(run.code, run.stderr).toBe(3);
    expect(documentOf(run.stdout)).toMatchObject({ batches: [], error: { code: 'service-unauthorized' } });
    expect(sandbox.books().totals.invoices).toBe(sent);
    expect(documentOf(status.stdout).batches.filter(({ id }) => id.includes('wrong-key'))).toEqual([]);
  });
});
