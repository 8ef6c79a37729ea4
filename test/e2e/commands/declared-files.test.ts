import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { runLote, type CommandEnd, type Place } from '../../support/lote/lote-command.ts';
import { startLoteUp, type RunningLote } from '../../support/lote/running-lote.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';

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

interface Batch {
  readonly id: string;
  readonly state: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly reports: { readonly json: string; readonly html: string; readonly corrections: string | null };
}

function batchOf({ stdout }: CommandEnd): Batch {
  const [batch] = (JSON.parse(stdout) as { batches: readonly Batch[] }).batches;
  if (batch === undefined) throw new Error(stdout);
  return batch;
}

/** `lote up` owns the data directory, and each command hands its file over to it. */
describe('lote run on files with a profile and control totals', { timeout: 240_000 }, () => {
  let lote: RunningLote;
  let place: Place;
  let sandbox: Sandbox;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    sandbox = await independentSandbox();
    const own = { ...(await sandboxEnv({ env: {} }, sandbox)), ...sharedTemporal(), LOTE_SETTLE_TIMEOUT: '20s' };
    lote = await startLoteUp(own);
    place = lote.place;
    env = { ...own, ...place.env };
    await mkdir(join(place.inputDir, 'profiles'), { recursive: true });
    await writeFile(join(place.inputDir, 'profiles', 'loja.json'), JSON.stringify(PROFILE));
  }, 120_000);

  afterAll(async () => {
    await lote.stop();
    await sandbox.close();
  });

  async function file(name: string, rows: readonly string[]): Promise<string> {
    const path = join(place.inputDir, name);
    const text = ['Série;Número;Nome;Artigo;Qtd.;PVP;Taxa', ...rows, ''].join('\r\n');
    await writeFile(path, iconv.encode(text, 'windows-1252'));
    return path;
  }

  it('sends nothing of a file with other totals, and the very bytes of the dry run when they are right', async () => {
    const path = await file('loja-1.csv', ['A;1;João;Pão;2;1.234;6%', 'A;2;Conceição;Café;1,5;0,90;23%']);
    const totals = ['--expect-invoices', '2', '--expect-net'];
    const held = await runLote(['run', path, ...totals, 'EUR=2469.36', '--json'], env);
    const sentBefore = sandbox.books().totals.invoices;
    const heldReport = await readFile(batchOf(held).reports.json, 'utf8');
    const checked = await runLote(['check', path, ...totals, 'EUR=2469.35', '--json'], env);

    const issued = await runLote(['run', path, ...totals, 'EUR=2469.3500', '--json'], env);

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
    const sent = sandbox.books().invoices.map(({ merchantId, bodySha256 }) => ({ merchantId, bodySha256 }));
    expect(
      first?.firstBodies
        .map((body) => sha256(body.replace('mrc_to_be_looked_up', sent[0]?.merchantId ?? '')))
        .toSorted(),
    ).toEqual(sent.map(({ bodySha256 }) => bodySha256).toSorted());
  });

  it('does not call a file right that has other totals, though every invoice of it was issued before', async () => {
    const rows = ['D;1;João;Pão;2;1,50;6%', 'D;2;Rita;Café;1;0,90;23%'];
    const path = await file('loja-d1.csv', rows);
    const first = await runLote(['run', path, '--json'], env);

    const same = await runLote(['run', path, '--expect-invoices', '3'], env);
    const sameReport = await runLote(['report', batchOf(first).id], env);
    const other = await file('loja-d2.csv', [...rows, '']);
    const copy = await runLote(['run', other, '--expect-invoices', '3', '--json'], env);
    const copyReport = await runLote(['report', batchOf(copy).id, '--json'], env);
    const copyPage = await readFile(batchOf(copy).reports.html, 'utf8');
    const right = await runLote(['run', other, '--expect-invoices', '2', '--json'], env);
    const rightReport = await runLote(['report', batchOf(copy).id], env);

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
    expect(copyPage).toContain('All 2 invoices went out, but the file does not have the control totals');
    const page = await readFile(batchOf(right).reports.html, 'utf8');
    expect(page).toContain('Everything went out');
    expect(page).toContain('control-totals-overruled');
  });

  it('reports a file with a totals row as the run did: nothing of it is missing', async () => {
    const path = await file('loja-sum.csv', ['S;1;Inês;Bolo;2;1,50;6%', ';;Total;;;3,00;']);
    const run = await runLote(['run', path, '--json'], env);

    const report = await runLote(['report', batchOf(run).id, '--json'], env);
    const status = await runLote(['status', batchOf(run).id, '--json'], env);

    expect([run.code, report.code], run.stderr).toEqual([0, 0]);
    const counts = { rows: 2, invoices: 1, issued: 1, rowsWithoutInvoice: 1, rowsLost: 0 };
    expect(batchOf(run).counts).toMatchObject(counts);
    expect(JSON.parse(report.stdout)).toMatchObject({ batch: { counts } });
    expect(JSON.parse(status.stdout)).toMatchObject({ batches: [{ rowsLost: 0 }] });
  });

  it('issues the right file after one that was held for its totals, though every price is another', async () => {
    const before = sandbox.books().totals.invoices;
    const wrong = await file('loja-wrong.csv', ['T;1;Rita;Pão;2;1.234;6%', 'T;2;Tomás;Café;1,5;0,90;23%']);
    const held = await runLote(['run', wrong, '--expect-net', 'EUR=5.05', '--json'], env);
    const right = await file('loja-right.csv', ['T;1;Rita;Pão;2;1,85;6%', 'T;2;Tomás;Café;1,5;0,90;23%']);

    const issued = await runLote(['run', right, '--expect-net', 'EUR=5.05', '--json'], env);
    const wrongAgain = await runLote(['run', wrong, '--json'], env);

    expect([held.code, issued.code, wrongAgain.code], held.stderr + issued.stderr).toEqual([1, 0, 1]);
    expect(batchOf(held).counts).toMatchObject({ invoices: 2, held: 2 });
    expect(batchOf(issued).counts).toMatchObject({ invoices: 2, issued: 2 });
    expect(batchOf(wrongAgain).counts, 'what was replaced never goes out').toMatchObject({ held: 1, issued: 1 });
    expect(sandbox.books().totals.invoices - before).toBe(2);
    expect(sandbox.books().duplicates).toEqual([]);
  });

  it('holds a file with a bad row when asked to, and hands the row back to be fixed when it is not', async () => {
    const rows = ['B;1;João;Pão;2;2,50;6%', 'B;2;Ana;Café;muitos;0,90;23%', 'B;3;Rui;=1+1;1;-1.234;6%'];
    const path = await file('loja-2.csv', rows);
    const before = sandbox.books().totals.invoices;

    const hold = await runLote(['run', path, '--on-invalid', 'hold', '--json'], env);
    const sentOnHold = sandbox.books().totals.invoices - before;
    const skip = await runLote(['run', path, '--on-invalid', 'skip', '--json'], env);
    const handedBack = iconv.decode(await readFile(batchOf(skip).reports.corrections ?? ''), 'windows-1252');
    const fixed = join(place.inputDir, 'fixed.csv');
    await writeFile(fixed, iconv.encode(handedBack.replace('muitos', '3'), 'windows-1252'));
    const again = await runLote(['run', fixed, '--json'], env);

    expect([hold.code, skip.code, again.code], hold.stderr + skip.stderr + again.stderr).toEqual([1, 1, 0]);
    expect(batchOf(hold).counts).toMatchObject({ invoices: 3, held: 2, invalid: 1 });
    expect(sentOnHold).toBe(0);
    expect(batchOf(skip).counts).toMatchObject({ issued: 2, invalid: 1 });
    expect(handedBack).toContain('profile=loja');
    expect(batchOf(again).counts).toMatchObject({ invoices: 1, issued: 1 });
    expect(sandbox.books().totals.invoices).toBe(before + 3);
    expect(sandbox.books().duplicates).toEqual([]);
  });

  it('says on the terminal why a file is refused', async () => {
    const path = join(place.inputDir, 'unproved.csv');
    await writeFile(
      path,
      'invoice_ref,merchant_nif,customer_name,currency,description,quantity,unit_price,tax_code\nF1,501964843,Ana,EUR,Pão,1,1.234,IVA_23\n',
    );
    const before = sandbox.books().totals.invoices;

    const run = await runLote(['run', path], env);

    expect(run.code, run.stderr).toBe(2);
    expect(run.stdout).toContain(': refused');
    expect(run.stdout).toContain('"1.234" in row 2 can mean 1.234 (decimal point) or 1234 (decimal comma)');
    expect(sandbox.books().totals.invoices).toBe(before);
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
