import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { runLote, type CommandEnd } from '../../support/lote/lote-command.ts';
import {
  batchesOf,
  batchOf,
  documentOf,
  lotePlace,
  reportOf,
  sharedTemporal,
} from '../../support/lote/running-lote.ts';

describe('lote run', () => {
  const place = shared(() => lotePlace({ temporal: 'own' }));
  let mixed: string;
  /** Of `mixed`, the first of all. */
  let first: CommandEnd;

  beforeAll(async () => {
    mixed = await place.file('mixed.csv', { invoices: 40, failing: [3, 17], invalid: [5] });
    first = await place.run('run', mixed, '--json');
  });

  it('issues every valid invoice once and names the others in a report that balances', async () => {
    expect(first.code, first.stderr).toBe(1);
    const batch = batchOf(first);
    expect(batch).toMatchObject({
      state: 'finished',
      exitCode: 1,
      counts: { invoices: 40, issued: 37, failed: 2, invalid: 1, rows: 40 },
    });
    const { duplicates, totals } = place.sandbox.books();
    expect(duplicates).toEqual([]);
    expect(totals).toMatchObject({ invoices: 39, issued: 37, failed: 2, deliveriesPending: 0 });
    const report = await reportOf(batch);
    expect(report.schema).toBe('lote.report/1');
    const issued = report.invoices.filter(({ state }) => state === 'issued');
    expect(issued.every(({ serviceId }) => serviceId?.startsWith('inv_'))).toBe(true);
    expect(await readFile(batch.reports.corrections ?? '', 'utf8')).toContain('muitos');
  });

  it.each([
    [['cliente secreto 40'], 'F/40'],
    [['200000003'], 'F/3'],
    [['--net', '10,25', '--from', '2000-01-01'], 'F/1'],
  ])('leaves invoices that lote find finds by %j', async (words, ref) => {
    const end = await place.run('find', ...words, '--json');

    expect(end.code, end.stderr).toBe(0);
    expect(documentOf<{ found: { ref: string }[] }>(end).found.map((one) => one.ref)).toEqual([ref]);
  });

  it('leaves what lote find tells a person: where an invoice stands and why', async () => {
    const { stdout } = await place.run('find', 'F/3');

    expect(stdout).toMatch(/ {2}F\/3 {2}failed\n.*\n {4}mixed\.csv, row 4, read .*, batch batch-mixed-/u);
    expect((await place.run('find', 'nobody')).code, 'nothing was found').toBe(1);
    expect((await place.run('find')).code, 'no search').toBe(64);
    const wrong = await place.run('find', '--from', 'yesterday');
    expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining('found "yesterday"')]);
  });

  it('takes the same bytes under another name for the same batch, refuses a file without the required columns with a report, and sends nothing', async () => {
    const renamed = await place.file('renamed.csv', await readFile(mixed));
    const columns = await place.file('columns.csv', 'a,b\n1,2\n');
    const sent = place.sandbox.books().totals.invoices;

    // One start for both: each file has an exit code of its own, and the run ends with the graver one.
    const run = await place.run('run', renamed, columns, '--json');

    expect(run.code, run.stderr).toBe(2);
    const [again, refused] = batchesOf(run);
    expect(again).toMatchObject({ id: batchOf(first).id, exitCode: 1, counts: batchOf(first).counts });
    expect(refused).toMatchObject({ state: 'refused', exitCode: 2 });
    const report = await reportOf(refused ?? expect.fail('two batches are named'));
    expect(report.invoices).toEqual([]);
    expect(report.fileFindings.length).toBeGreaterThan(0);
    expect(place.sandbox.books().totals.invoices).toBe(sent);
  });

  it('ends with 3 when the service refuses the key, and leaves no batch', async () => {
    const file = await place.file('wrong-key.csv', { invoices: 2 });
    const sent = place.sandbox.books().totals.invoices;

    // Directories of its own: a ledger that knows another key refuses the change before it asks the service, and a new one is behind the send log.
    const own = { LOTE_DATA_DIR: `${place.dataDir}-wrong-key`, LOTE_REPORTS_DIR: `${place.reportsDir}-wrong-key` };
    const fresh = { ...place.env, ...sharedTemporal(), ...own };
    const run = await runLote(['run', file, '--json'], { ...fresh, INVOICING_API_KEY: 'sk_test_wrong' });
    const status = await runLote(['status', '--json'], fresh);

    expect(run.code, run.stderr).toBe(3);
    expect(documentOf(run)).toMatchObject({ batches: [], error: { code: 'service-unauthorized' } });
    expect(place.sandbox.books().totals.invoices).toBe(sent);
    expect(batchesOf(status).filter(({ id }) => id.includes('wrong-key'))).toEqual([]);
  });
});
