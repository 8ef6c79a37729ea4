import { join } from 'node:path';
import { afterAll, beforeAll, expect, describe, it } from 'vitest';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { newPlace, runLote, type Place } from '../../support/lote/lote-command.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';

describe('lote find', { timeout: 300_000 }, () => {
  let place: Place;
  let temporal: Record<string, string>;

  beforeAll(async () => {
    place = await newPlace();
    temporal = sharedTemporal();
    const file = join(place.inputDir, 'may.csv');
    await writeInvoiceFile(file, { invoices: 3, failing: [2] });
    const { code, stderr } = await runLote(['run', file], { ...place.env, ...temporal });
    if (code !== 1) throw new Error(stderr);
  }, 300_000);

  afterAll(() => place?.remove());

  it.each([
    [['cliente secreto 2'], 'F/2'],
    [['200000003'], 'F/3'],
    [['--net', '10,25', '--from', '2000-01-01'], 'F/1'],
  ])('finds one invoice by %j', async (words, ref) => {
    const { code, stdout, stderr } = await runLote(['find', ...words, '--json'], place.env);

    expect(code, stderr).toBe(0);
    expect((JSON.parse(stdout) as { found: { ref: string }[] }).found.map((one) => one.ref)).toEqual([ref]);
  });

  it('tells a person where it stands and why', async () => {
    const { stdout } = await runLote(['find', 'F/2'], place.env);

    expect(stdout).toMatch(/^1 invoice found:\n {2}F\/2 {2}failed\n.*\n {4}may\.csv, row 3, read .*, batch /u);
    expect(stdout).toContain(`, batch ${temporal['LOTE_APPLICATION']}-batch-may-`);
  });

  it('ends with 1 where there is nothing, and with 64 for what is no search', async () => {
    expect((await runLote(['find', 'nobody'], place.env)).code).toBe(1);
    expect((await runLote(['find'], place.env)).code).toBe(64);
    const wrong = await runLote(['find', '--from', 'yesterday'], place.env);
    expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining('found "yesterday"')]);
  });
});
