import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { checkCommand, type CheckCommand } from '../../../../src/cli/commands/check.ts';
import { batchFile, testInvoices, writeInvoiceFile } from '../../../support/files/batch-file.ts';
import { printed } from '../printed.ts';

let directory: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
});

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

function check(files: readonly string[], over: Partial<CheckCommand> = {}): Promise<number> {
  const env = { LOTE_INPUT_DIR: join(directory, 'input'), LOTE_DATA_DIR: join(directory, 'data') };
  return checkCommand(env, { files, json: true, ...over });
}

describe('the exit code of a dry run', () => {
  const CLEAN = batchFile(testInvoices(2));
  const BAD = batchFile([...testInvoices(1), { ref: 'F-2', quantity: 'muitos' }]);

  it.each([
    ['a clean file', [CLEAN], {}, 0],
    ['a bad row', [BAD], {}, 1],
    ['a row without a reference', [`${CLEAN},501964843,M,m@x.example,C,,EUR,D,1,1,IVA_23\n`], {}, 1],
    ['a file that cannot be read as rows', ['\u0000\u0001\u0002'], {}, 2],
    ['a clean and a bad file', [CLEAN, BAD], {}, 1],
    ['a bad and a refused file', [BAD, ''], {}, 2],
    ['other control totals', [CLEAN], { expectInvoices: 3 }, 1],
    ['the right control totals', [CLEAN], { expectInvoices: 2, expectNet: { EUR: '41' } }, 0],
    ['a bad row that holds everything', [BAD], { onInvalid: 'hold' }, 1],
  ] as const)('%s', async (_, texts, options, exitCode) => {
    printed();
    const files: string[] = [];
    for (const [at, text] of texts.entries()) files.push(await file(`${at}.csv`, text));

    expect(await check(files, options)).toBe(exitCode);
  });
});

describe('a dry run', () => {
  it.each(['{"signature":', '{"signatur":{}}'])(
    'refuses a wrong service profile before a run finds it: %s',
    async (text) => {
      const path = await file('a.csv', batchFile(testInvoices(1)));
      const env = { LOTE_INPUT_DIR: directory, SERVICE_PROFILE: await file('profile.json', text) };

      const message = expect.stringContaining('service profile') as string;
      const checked = checkCommand(env, { files: [path], json: true });
      await expect(checked).rejects.toMatchObject({ code: 'configuration-invalid', message });
    },
  );

  it('gives one JSON document for all files, with the bytes that would be sent', async () => {
    const { stdout } = printed();
    const path = await file('a.csv', batchFile([{ ref: 'F-1', quantity: '2', unitPrice: '10.25' }]));

    await check([path]);

    const { files } = JSON.parse(stdout()) as { files: { file: string; net: object; firstBodies: string[] }[] };
    const counts = { invoices: 1, invalid: 0, net: { EUR: '20.5' } };
    expect(files).toMatchObject([{ file: path, refused: false, ...counts, gate: null }]);
    expect(JSON.parse(files[0]?.firstBodies[0] ?? '')).toMatchObject({ currency: 'EUR' });
  });

  it('speaks to a person one file after the other', async () => {
    const { stdout } = printed();
    const a = await file('a.csv', batchFile(testInvoices(1)));
    const b = await file('b.csv', '');

    await check([a, b], { json: false });

    const [first, second] = stdout().split('\n\n');
    expect(first?.split('\n')[0]).toBe(`${a}: 1 invoices from 1 rows, 0 invalid`);
    expect(second?.split('\n')[0]).toBe(`${b}: REFUSED, nothing of it would be sent`);
    expect(stdout().endsWith('\n')).toBe(true);
  });

  it('shows three bodies of a larger file, and counts all of it', async () => {
    const { stdout } = printed();
    const path = join(directory, 'large.csv');
    await writeInvoiceFile(path, { invoices: 40, invalid: [7, 8] });

    await check([path]);

    const { files } = JSON.parse(stdout()) as { files: { firstBodies: string[] }[] };
    expect(files[0]).toMatchObject({ invoices: 40, invalid: 2, rows: 40, withoutAmount: 2 });
    expect(files[0]?.firstBodies).toHaveLength(3);
  });

  it('writes nothing, anywhere', async () => {
    printed();
    const path = await file('a.csv', batchFile(testInvoices(1)));

    await check([path]);

    await expect(mkdir(join(directory, 'data'))).resolves.toBeUndefined();
    await expect(mkdir(join(directory, 'input'))).resolves.toBeUndefined();
  });

  it.each([
    ['nowhere.csv', 'there is no such file'],
    ['link.csv', 'there is no such file'],
    ['.', 'it is not a regular file'],
    ['/dev/null', 'it is not a regular file'],
  ])('ends before it begins with %s: %s', async (name, found) => {
    const { stdout } = printed();
    await symlink(join(directory, 'gone.csv'), join(directory, 'link.csv'));
    const path = resolve(directory, name);

    const message = `Reading ${path}: expected a readable file, but ${found}`;
    await expect(check([path])).rejects.toMatchObject({ code: 'file-unreadable', message });
    expect(stdout()).toBe('');
  });

  it('compares control totals with one file only', async () => {
    await expect(check(['a.csv', 'b.csv'], { expectInvoices: 1 })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a file whose columns no person has confirmed', () => {
  const EXPORT =
    'Nº Fatura;NIF;Cliente;Moeda;Descrição;Qtd;Preço;IVA;Tipo\nF/1;501964843;Ana;EUR;Vela;1;2,50;IVA_23;FT\nF/2;501964843;Rui;EUR;Vela;1;2,50;IVA_23;NC\n';

  it('is refused with the proposal, its first values, and the command that saves it', async () => {
    const { stdout } = printed();
    const path = await file('erp-11.csv', EXPORT);

    expect(await check([path], { json: false })).toBe(2);
    expect(stdout()).toMatch(/"Nº Fatura" +invoice_ref +F\/1 · F\/2/u);
    expect(stdout()).toMatch(/"Tipo" +NOT SENT +FT · NC/u);
    expect(stdout()).toContain(`lote check ${path} --save-profile erp`);
    expect(stdout()).toContain('read so: 2 invoices from 2 rows');
  });

  it('is saved as a profile that reads this file and the next ones, and not one with a column more', async () => {
    const { stdout } = printed();
    const mapping = { saveProfile: 'erp', skip: [['Tipo', 'NC']] } as const;

    expect(await check([await file('erp-11.csv', EXPORT)], { ...mapping, json: false })).toBe(0);
    expect(await check([await file('other.csv', EXPORT.replaceAll('F/', 'G/'))])).toBe(0);
    const wider = EXPORT.replace('Tipo', 'Tipo;Desconto').replaceAll(/(FT|NC)\n/gu, '$1;5\n');
    expect(await check([await file('erp-12.csv', wider)])).toBe(2);
    expect(await check([await file('erp-13.csv', EXPORT.replace('NC', 'ND'))])).toBe(1);

    expect(stdout()).toContain('1 rows are no invoices by the mapping profile and were skipped (Tipo: NC)');
    expect(stdout()).toContain('expected a value that the mapping profile names');
  });

  it('is not saved while a column is missing, under a name that is taken, nor for two files', async () => {
    printed();
    const path = await file('erp.csv', EXPORT.replace('Preço', 'Valor'));
    const column = [['unit_price', 'Valor']] as const;

    const missing = expect.stringContaining('--column unit_price=HEADER') as string;
    await expect(check([path], { saveProfile: 'erp' })).rejects.toMatchObject({ code: 'usage', message: missing });
    expect(await check([path], { saveProfile: 'erp', column })).toBe(0);
    await expect(check([path], { saveProfile: 'erp', column })).rejects.toThrow('never overwritten');
    await expect(check([path, path], { saveProfile: 'erp-2' })).rejects.toThrow('expected one file');
    const unknown = check([path], { column: [['quantity', 'Nada']], saveProfile: 'x' });
    await expect(unknown).rejects.toThrow('expected one of its headers');
  });
});
