import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { correctedInOffice, officeWorkbook } from '../../support/files/office-workbook.ts';
import { newPlace, runLote, type CommandEnd, type Place } from '../../support/lote/lote-command.ts';
import { startLoteUp } from '../../support/lote/running-lote.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';

interface ShownNights {
  readonly nights: { readonly hour: number; readonly minute: number; readonly timezone: string } | null;
  readonly warnings?: readonly string[];
}

interface RanFile {
  readonly report: string;
  readonly corrections: string | null;
}

/** What the last night of a summary did with its only file, and the counts in the report of it. */
async function lastFile({ stdout, stderr }: CommandEnd) {
  const { night } = JSON.parse(stdout || `{"error":${JSON.stringify(stderr)}}`) as {
    night: { reports: { json: string } };
  };
  const { runs } = JSON.parse(await readFile(night.reports.json, 'utf8')) as { runs: { files: RanFile[] }[] };
  const [file] = runs.at(-1)?.files ?? [];
  if (file === undefined) throw new Error(stderr);
  const report = JSON.parse(await readFile(join(dirname(file.report), 'report.json'), 'utf8')) as { counts: object };
  return { corrections: file.corrections ?? '', counts: report.counts };
}

describe('lote nightly', { timeout: 240_000 }, () => {
  let place: Place;
  let sandbox: Sandbox;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    place = await newPlace();
    await mkdir(place.inputDir, { recursive: true });
    sandbox = await independentSandbox();
    env = {
      ...(await sandboxEnv(place, sandbox)),
      LOTE_SETTLE_TIMEOUT: '20s',
      LOTE_DROP_STABLE_FOR: '50ms',
    };
  });

  afterAll(async () => {
    await sandbox.close();
    await place.remove();
  });

  it('is switched on, keeps its plan over restarts, runs a night now, and is switched off', async () => {
    const on = await runLote(['nightly', 'on', '--at', '02:30', '--timezone', 'Europe/Madrid', '--json'], env);
    const show = await runLote(['nightly', 'show'], env);
    await writeInvoiceFile(join(place.inputDir, 'dropped.csv'), { invoices: 4 });
    const now = await runLote(['nightly', 'now', '--json'], env);
    const off = await runLote(['nightly', 'off'], env);

    expect(on.code, on.stderr).toBe(0);
    const plan = JSON.parse(on.stdout) as ShownNights;
    expect(plan.nights).toMatchObject({ hour: 2, minute: 30, timezone: 'Europe/Madrid' });
    expect(plan.warnings).toHaveLength(2);
    expect(show.stdout, show.stderr).toContain('Nights are on: every day at 02:30 Europe/Madrid');
    expect(now.code, now.stderr).toBe(0);
    const { night } = JSON.parse(now.stdout) as {
      night: { files: number; problems: number; reports: { json: string } };
    };
    expect(night).toMatchObject({ files: 1, problems: 0 });
    expect(JSON.parse(await readFile(night.reports.json, 'utf8'))).toMatchObject({ totals: { files: 1, issued: 1 } });
    const [date = ''] = await readdir(join(place.inputDir, 'archive'));
    expect((await readdir(join(place.inputDir, 'archive', date))).toSorted()).toEqual([
      'dropped.csv',
      'dropped.csv.note.txt',
    ]);
    expect(sandbox.books().totals).toMatchObject({ invoices: 4, issued: 4 });
    expect(off.stdout, off.stderr).toContain('Nights are off now.');
  });

  it('issues what is right in a dropped workbook, and the rest when its corrections are dropped corrected', async () => {
    const header = [
      'invoice_ref',
      'merchant_nif',
      'merchant_legal_name',
      'merchant_email',
      'customer_name',
      'currency',
    ];
    const merchant = ['501964843', 'Padaria Central do Porto, Lda', 'faturas@padaria-central.example'];
    const row = (ref: string, price: number | string) => [
      ...[ref, ...merchant, 'Ana Reis', 'EUR', 'Vela', 2, price, 'IVA_23'],
    ];
    const table = [[...header, 'description', 'quantity', 'unit_price', 'tax_code'], row('W/1', 1.5), row('W/2', 'x')];
    // Both nights are handed over to one owner, which another service and another ledger keep apart from the test before.
    const service = await independentSandbox();
    const settings: Record<string, string> = {
      ...(await sandboxEnv({ env: {} }, service)),
      ...sharedTemporal(),
      LOTE_DROP_STABLE_FOR: '50ms',
    };
    const lote = await startLoteUp(settings);
    try {
      const { inputDir } = lote.place;
      // Who starts a night need not know the task queue: the owner says it.
      const { LOTE_TASK_QUEUE: _queue, ...known } = settings;
      const night = () => runLote(['nightly', 'now', '--json'], { ...known, ...lote.place.env });
      await mkdir(inputDir, { recursive: true });
      await writeFile(join(inputDir, 'faturas.xlsx'), officeWorkbook(table));

      const first = await lastFile(await night());
      const corrections = await readFile(first.corrections);
      await writeFile(join(inputDir, 'corrected.xlsx'), correctedInOffice(corrections, 'I2', 12.5));
      const second = await lastFile(await night());

      expect(first.corrections).toMatch(/corrections\.xlsx$/u);
      expect(first.counts).toMatchObject({ rows: 2, invoices: 2, issued: 1, invalid: 1 });
      expect(second.counts).toMatchObject({ rows: 1, invoices: 1, issued: 1 });
      expect(service.books()).toMatchObject({ duplicates: [], totals: { issued: 2 } });
    } finally {
      await lote.stop();
      await service.close();
    }
  });

  it.each([
    [['nightly', 'on', '--at', '25:00'], '--at must be a time such as 02:00'],
    [['nightly', 'on', '--timezone', 'Lisbon'], 'IANA name such as Europe/Lisbon'],
    [['nightly', 'on', '--catch-up', '12'], '--catch-up must be a duration with a unit'],
    [['purge', '--older-than', '400m'], '--older-than must be a duration of at least a day'],
  ])('%j is a usage error with an example, which needs no Temporal server', async (parameters, sentence) => {
    const run = await runLote(parameters, { ...env, TEMPORAL_ADDRESS: '127.0.0.1:9' });

    expect(run.code).toBe(64);
    expect(run.stderr).toContain(sentence);
  });

  it('purges nothing that is not old', async () => {
    const run = await runLote(['purge', '--older-than', '400d', '--dry-run'], env);

    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toBe('Nothing to purge.\n');
  });
});
