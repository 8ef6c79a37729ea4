import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import iconv from 'iconv-lite';
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { batchOf, lotePlace } from '../../support/lote/running-lote.ts';

/** How one shop writes its files; nothing of it can be read without its profile. */
const PROFILE = {
  columns: { customer_name: 'Nome', description: 'Artigo', quantity: 'Qtd.', unit_price: 'PVP', tax_code: 'Taxa' },
  constants: {
    merchant_nif: '501964843',
    merchant_legal_name: 'Padaria Central',
    merchant_email: 'faturas@padaria.example',
    currency: 'EUR',
  },
  reference: { columns: ['Série', 'Número'], separator: '/' },
  taxCodes: { '23%': 'IVA_23', '6%': 'IVA_6' },
  decimal: ',',
};

/** `lote up` owns the data directory, and each command hands its file over to it. */
describe('lote run on files with a profile and control totals', () => {
  const place = shared(() => lotePlace({ up: true }));

  beforeAll(() => place.file('profiles/loja.json', JSON.stringify(PROFILE)));

  function file(name: string, rows: readonly string[]): Promise<string> {
    const text = ['Série;Número;Nome;Artigo;Qtd.;PVP;Taxa', ...rows, ''].join('\r\n');
    return place.file(name, iconv.encode(text, 'windows-1252'));
  }

  it('sends nothing of a file with other totals, and the very bytes of the dry run when they are right', async () => {
    const path = await file('loja-1.csv', ['A;1;João;Pão;2;1.234;6%', 'A;2;Conceição;Café;1,5;0,90;23%']);
    const totals = ['--expect-invoices', '2', '--expect-net'];
    const held = await place.run('run', path, ...totals, 'EUR=2469.36', '--json');
    const sentBefore = place.sandbox.books().totals.invoices;
    const heldReport = await readFile(batchOf(held).reports.json, 'utf8');
    const checked = await place.run('check', path, ...totals, 'EUR=2469.35', '--json');

    const issued = await place.run('run', path, ...totals, 'EUR=2469.3500', '--json');

    expect([held.code, checked.code, issued.code], held.stderr + issued.stderr).toEqual([1, 0, 0]);
    expect(batchOf(issued).counts).toMatchObject({ invoices: 2, issued: 2 });
    expect(batchOf(held).counts).toMatchObject({ invoices: 2, held: 2 });
    expect(sentBefore).toBe(0);
    expect(heldReport).toContain('expected net EUR 2469.36, found 2469.35');
    const page = await readFile(batchOf(issued).reports.html, 'utf8');
    expect(page, 'that it was let go stands where it said that nothing was sent').toContain(
      'found 2469.35. It was then started again with other totals',
    );
    expect(page).not.toContain('Nothing of it was sent');
    expect(page).toContain('Everything went out');
    const [first] = (JSON.parse(checked.stdout) as { files: readonly { firstBodies: readonly string[] }[] }).files;
    const sent = place.sandbox.books().invoices.map(({ merchantId, bodySha256 }) => ({ merchantId, bodySha256 }));
    expect(
      first?.firstBodies
        .map((body) => sha256(body.replace('mrc_to_be_looked_up', sent[0]?.merchantId ?? '')))
        .toSorted(),
    ).toEqual(sent.map(({ bodySha256 }) => bodySha256).toSorted());
  });

  it('does not call a file right that has other totals, though every invoice of it was issued before', async () => {
    const rows = ['D;1;João;Pão;2;1,50;6%', 'D;2;Rita;Café;1;0,90;23%'];
    const path = await file('loja-d1.csv', rows);
    const first = await place.run('run', path, '--json');

    const same = await place.run('run', path, '--expect-invoices', '3');
    const sameReport = await place.run('report', batchOf(first).id);
    const other = await file('loja-d2.csv', [...rows, '']);
    const copy = await place.run('run', other, '--expect-invoices', '3', '--json');
    const copyReport = await place.run('report', batchOf(copy).id, '--json');
    const copyPage = await readFile(batchOf(copy).reports.html, 'utf8');
    const right = await place.run('run', other, '--expect-invoices', '2', '--json');
    const rightReport = await place.run('report', batchOf(copy).id);

    expect([first.code, same.code, sameReport.code], same.stderr).toEqual([0, 1, 0]);
    expect(same.stdout).toContain('CONTROL TOTALS differ: ');
    expect(same.stdout).toContain('expected 3 invoices, found 2. Nothing more of it was sent.');
    expect([copy.code, copyReport.code, right.code, rightReport.code], copy.stderr).toEqual([1, 1, 0, 0]);
    expect(batchOf(copy)).toMatchObject({
      counts: { invoices: 2, 'already-issued': 2 },
      totalsDiffer: expect.stringContaining('expected 3 invoices, found 2') as string,
    });
    expect(JSON.parse(copyReport.stdout)).toMatchObject({
      batch: { totalsDiffer: expect.stringContaining('expected 3 invoices, found 2') as string },
    });
    expect(copyPage).toContain(
      'Everything that is in the file went out, but the file does not have the control totals',
    );
    const page = await readFile(batchOf(right).reports.html, 'utf8');
    expect(page).toContain('Everything went out');
    expect(page).toContain('control-totals-overruled');
  });

  it('reports a file with a totals row as the run did: nothing of it is missing', async () => {
    const path = await file('loja-sum.csv', ['S;1;Inês;Bolo;2;1,50;6%', ';;Total;;;3,00;']);
    const run = await place.run('run', path, '--json');

    const report = await place.run('report', batchOf(run).id, '--json');
    const status = await place.run('status', batchOf(run).id, '--json');

    expect([run.code, report.code], run.stderr).toEqual([0, 0]);
    const counts = { rows: 2, invoices: 1, issued: 1, rowsWithoutInvoice: 1, rowsLost: 0 };
    expect(batchOf(run).counts).toMatchObject(counts);
    expect(JSON.parse(report.stdout)).toMatchObject({ batch: { counts } });
    expect(JSON.parse(status.stdout)).toMatchObject({ batches: [{ rowsLost: 0 }] });
  });

  it('holds a file with a bad row when asked to, and hands the row back to be fixed when it is not', async () => {
    const rows = ['B;1;João;Pão;2;2,50;6%', 'B;2;Ana;Café;muitos;0,90;23%', 'B;3;Rui;=1+1;1;-1.234;6%'];
    const path = await file('loja-2.csv', rows);
    const before = place.sandbox.books().totals.invoices;

    const hold = await place.run('run', path, '--on-invalid', 'hold', '--json');
    const sentOnHold = place.sandbox.books().totals.invoices - before;
    const skip = await place.run('run', path, '--on-invalid', 'skip', '--json');
    const handedBack = iconv.decode(await readFile(batchOf(skip).reports.corrections ?? ''), 'windows-1252');
    const fixed = await place.file('fixed.csv', iconv.encode(handedBack.replace('muitos', '3'), 'windows-1252'));
    const again = await place.run('run', fixed, '--json');

    expect([hold.code, skip.code, again.code], hold.stderr + skip.stderr + again.stderr).toEqual([1, 1, 0]);
    expect(batchOf(hold).counts).toMatchObject({ invoices: 3, held: 2, invalid: 1 });
    expect(sentOnHold).toBe(0);
    expect(batchOf(skip).counts).toMatchObject({ issued: 2, invalid: 1 });
    expect(handedBack).toContain('profile=loja');
    expect(batchOf(again).counts).toMatchObject({ invoices: 1, issued: 1 });
    place.expectIssued(before + 3);
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
