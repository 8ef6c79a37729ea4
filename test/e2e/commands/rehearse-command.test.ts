import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forTest } from '../../support/lifetime.ts';
import { writeInvoiceFile } from '../../support/files/batch-file.ts';
import { batchOf, readJson, reportOf, type CommandReport } from '../../support/lote/running-lote.ts';
import { newPlace, runLote, startLote } from '../../support/lote/lote-command.ts';

const INVOICES = 60;
/** Enough that two seeds do not bring the same faults by chance. */
const SALES = 16;

describe('lote rehearse', () => {
  it('prints what its report says after its own reconciliation, and leaves nothing else behind', async () => {
    const place = await forTest(newPlace());
    const temporary = join(place.directory, 'tmp');
    await mkdir(temporary);
    const file = join(place.inputDir, 'night.csv');
    await writeInvoiceFile(file, { invoices: INVOICES, failing: [4, 44] });

    const rehearsal = await runLote(['rehearse', file, '--faults', 'heavy', '--seed', '3', '--json'], {
      ...place.env,
      TMPDIR: temporary,
      ...{ LOTE_SETTLE_TIMEOUT: '4s', LOTE_SEND_TIMEOUT: '6s', LOTE_OUTAGE_PATIENCE: '6s' },
      // A real service is configured: a rehearsal must not speak to it.
      ...{ INVOICING_BASE_URL: 'http://127.0.0.1:9', INVOICING_API_KEY: 'sk_test_real' },
    });

    expect(rehearsal.code, rehearsal.stderr).toBe(1);
    const batch = batchOf(rehearsal);
    const report = await reportOf(batch);
    expect(batch.counts).toEqual(report.counts);
    expect(batch.revision).toBe(report.batch.revision);
    expect(report.counts['invoices']).toBe(INVOICES);
    expect(report.counts['failed']).toBe(2);
    expect(batch.reports.json.startsWith(join(place.reportsDir, 'rehearsal'))).toBe(true);
    expect(
      (await readdir(temporary)).filter((name) => name.startsWith('lote-')),
      'the throw-away ledger',
    ).toEqual([]);
    await expect(stat(place.dataDir), 'the real ledger').rejects.toThrow('ENOENT');
    expect(await readdir(place.inputDir), 'the file stays where it was').toEqual(['night.csv']);
  });

  it.each([
    ['the file of a database address', { DATABASE_URL_FILE: 'database' }],
    ['a profile of Temporal', { TEMPORAL_PROFILE: 'night', TEMPORAL_CONFIG_FILE: 'temporal.toml' }],
  ])('has a ledger and a Temporal server of its own beside %s', async (_what, names) => {
    const place = await forTest(newPlace());
    await writeFile(join(place.directory, 'database'), 'postgresql://nobody@127.0.0.1:1/lote');
    await writeFile(join(place.directory, 'temporal.toml'), '[profile.night]\naddress = "127.0.0.1:1"\n');
    const file = join(place.inputDir, 'small.csv');
    await writeInvoiceFile(file, { invoices: 2 });
    const paths = Object.entries(names).map(([name, value]) => [
      name,
      name.endsWith('_FILE') ? join(place.directory, value) : value,
    ]);

    const { code, stderr } = await runLote(['rehearse', file, '--faults', 'none'], {
      ...place.env,
      ...(Object.fromEntries(paths) as Record<string, string>),
    });

    expect(code, stderr).toBe(0);
    expect(stderr).toContain('2 invoices, 0 of them twice');
  });

  it('leaves nothing of the file behind when it is interrupted', async () => {
    const place = await forTest(newPlace());
    const temporary = join(place.directory, 'tmp');
    await mkdir(temporary);
    const file = join(place.inputDir, 'night.csv');
    await writeInvoiceFile(file, { invoices: 3 });

    const rehearsal = startLote(['rehearse', file, '--faults', '{"neverSettle":1}'], {
      ...place.env,
      TMPDIR: temporary,
    });
    await rehearsal.said('at rest');
    rehearsal.signal('SIGINT');
    const { code, stderr } = await rehearsal.end;

    expect(code, stderr).toBe(130);
    expect((await readdir(temporary)).filter((name) => name.startsWith('lote-'))).toEqual([]);
  });

  it('reads the file by its mapping profile, as the night would, and by no service profile: nobody is told, and the same seed brings the same faults to the same invoices', async () => {
    const place = await forTest(newPlace());
    await mkdir(join(place.inputDir, 'profiles'), { recursive: true });
    const constants = { merchant_nif: '501964843', merchant_legal_name: 'Loja', merchant_email: 'a@loja.example' };
    const columns = { invoice_ref: 'Nr', customer_name: 'Nome', description: 'Artigo', quantity: 'Qtd' };
    const profile = {
      columns: { ...columns, unit_price: 'PVP', tax_code: 'IVA' },
      constants: { ...constants, currency: 'EUR' },
    };
    await writeFile(join(place.inputDir, 'profiles', 'loja.json'), JSON.stringify(profile));
    const file = join(place.inputDir, 'vendas.csv');
    const rows = Array.from({ length: SALES }, (_, at) => `L/${at},Ana,Pão,2,1.${10 + at},IVA_6`);
    await writeFile(file, ['Nr,Nome,Artigo,Qtd,PVP,IVA', ...rows, ''].join('\n'));
    const service = join(place.directory, 'service.json');
    await writeFile(service, JSON.stringify({ invoice: { id: '/data/id' }, limits: { maxConcurrency: 2 } }));
    const notified = join(place.directory, 'told');
    await mkdir(notified);
    const unsettledOf = async (seed: string): Promise<readonly string[]> => {
      const faults = ['--faults', JSON.stringify({ neverSettle: 0.5 }), '--seed', seed];
      const rehearsal = await runLote(['rehearse', file, '--profile', 'loja', ...faults], {
        ...place.env,
        SERVICE_PROFILE: service,
        LOTE_ON_REPORT: JSON.stringify(['cp', '-t', notified]),
        LOTE_SETTLE_TIMEOUT: '2s',
      });
      expect(rehearsal.code, rehearsal.stderr).toBe(1);
      const rehearsals = join(place.reportsDir, 'rehearsal');
      const files = await readdir(rehearsals, { recursive: true });
      const name = files.find((one) => one.endsWith('.json')) ?? 'no report';
      const { invoices } = await readJson<CommandReport>(join(rehearsals, name));
      await rm(rehearsals, { recursive: true });
      expect(invoices).toHaveLength(SALES);
      const unsettled = invoices.filter(({ state }) => state === 'unsettled').map(({ ref }) => ref);
      expect(invoices.filter(({ state }) => state === 'issued')).toHaveLength(SALES - unsettled.length);
      return unsettled;
    };

    const once = await unsettledOf('3');

    expect(once.length).toBeGreaterThan(0);
    expect(once.length).toBeLessThan(SALES);
    expect(await unsettledOf('3')).toEqual(once);
    expect(await unsettledOf('4')).not.toEqual(once);
    expect(await readdir(notified)).toEqual([]);
  });
});
