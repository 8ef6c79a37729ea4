import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { checkFile } from '../../../../src/app/files/check-file.ts';
import { postForm, testConsole, visit } from '../console-ledger.ts';
import type { NotedAction } from '../../../../src/domain/records/batch-record.ts';
import { createFileMapper } from '../../../../src/app/console/file-actions.ts';

/** Words that Lote does not know, below a title; the tax number is the same in each row, and in no column. */
const UNKNOWN = [
  'Relatório de vendas;;;;;;;',
  'Série;Número;Para quem;O quê;Quantos;Por unidade;Taxa;NIF',
  'A;17;Ana Reis;Vela;2;1,50;23 %;999999990',
  'A;18;Rui Sá;Pavio;3;0,75;isento;999999990',
].join('\n');

/** What makes invoices of it: two columns are the reference, and one is not read although Lote knows its word. */
const CHOSEN = {
  ...{ m0: 'reference-part', m1: 'reference-part', m2: 'customer_name', m3: 'description', m4: 'quantity' },
  ...{ m5: 'unit_price', m6: 'tax_code', m7: 'none', separator: '/', 'every-merchant_nif': '501964843' },
  ...{ 'every-merchant_legal_name': 'Padaria Central do Porto, Lda', 'every-currency': 'EUR' },
  ...{ word0: '23 %', code0: 'IVA_23', word1: 'isento', code1: 'IVA_0' },
};

describe('the columns of a file, mapped by hand', () => {
  let inputDir: string;
  let noted: (NotedAction & { readonly batchId: string })[];

  beforeEach(async () => {
    inputDir = await temporaryDirectory();
    await write(UNKNOWN);
    noted = [];
  });

  const write = (content: string | Uint8Array, name = 'vendas-2026-11.csv') => writeFile(join(inputDir, name), content);
  const profile = async (): Promise<unknown> =>
    JSON.parse(await readFile(join(inputDir, 'profiles', 'vendas.json'), 'utf8'));
  const textAt = async (path: string) => (await visit(newApp(), path)).text();

  function newApp() {
    return testConsole({
      actions: {
        files: {
          keep: async (name) => name,
          check: async (file, declared) => checkFile(join(inputDir, file), inputDir, declared),
          start: async () => ({ batchId: 'batch', sha256: '0'.repeat(64) }),
          mapper: createFileMapper({
            ...{ config: { inputDir }, folders: null, profile: DEFAULT_PROFILE },
            ledger: {
              noteActions: async (batchId, actions) =>
                void noted.push(...actions.map((action) => ({ ...action, batchId }))),
            },
          }),
        },
      },
    });
  }

  async function pageOf(fields: Readonly<Record<string, string>>): Promise<string> {
    const query = new URLSearchParams({ file: 'vendas-2026-11.csv', ...fields }).toString();
    const response = await visit(newApp(), `/mapping?${query}`);
    expect(response.status).toBe(200);
    return response.text();
  }

  /** The choices as the page sends them back. */
  async function chosen(fields: Readonly<Record<string, string>> = CHOSEN): Promise<Record<string, string>> {
    const header = /name="header" value="([^"]+)"/u.exec(await pageOf({}))?.[1] ?? '';
    return { ...fields, header };
  }

  const save = (fields: Readonly<Record<string, string>>) =>
    postForm(newApp(), '/mapping', { file: 'vendas-2026-11.csv', ...fields });

  it('begin with what Lote understands by itself, below a title, and name what is missing', async () => {
    const page = await pageOf({});

    expect(page).toMatch(/<th scope="row">Para quem<\/th>\s*<td class="text">Ana Reis · Rui Sá<\/td>/u);
    expect(page).toMatch(/aria-label="Meaning of the column NIF"[^>]*>(?:(?!<\/select>)[^])*"merchant_nif" selected/u);
    expect(page).toMatch(/Still without a column: <strong>reference of the invoice, name of the customer, currency/u);
    expect(page).not.toContain('formmethod="post"');
  });

  it('show at once how many invoices they make, and their net', async () => {
    const page = await pageOf(await chosen());

    expect(page).toContain('No errors: all 2 invoices can be sent.');
    expect(page).toMatch(/<span class="figure">5.25<\/span> EUR/u);
  });

  it('are proposed anew for another header, and read nothing where two mean the same', async () => {
    expect(await pageOf({ ...(await chosen()), delimiter: ',' })).not.toContain('invoices can be sent');
    const page = await pageOf({ ...(await chosen()), m2: 'description' });
    expect(page).toContain('Meant by several columns: <strong>description of the line</strong>');
    expect(page).toContain('Still without a column: <strong>name of the customer</strong>');
  });

  it('become a profile that the next file with these columns is read with', async () => {
    const saved = await save({ ...(await chosen()), name: 'vendas' });

    expect(saved.status).toBe(303);
    expect(saved.headers.get('location')).toBe('/check?file=vendas-2026-11.csv&profile=vendas');
    const columns = { customer_name: 'Para quem', description: 'O quê', quantity: 'Quantos', tax_code: 'Taxa' };
    expect(await profile()).toEqual({
      format: 'csv',
      columns: { ...columns, unit_price: 'Por unidade' },
      ignore: ['NIF'],
      constants: { merchant_nif: '501964843', merchant_legal_name: 'Padaria Central do Porto, Lda', currency: 'EUR' },
      reference: { columns: ['Série', 'Número'], separator: '/' },
      taxCodes: { '23 %': 'IVA_23', isento: 'IVA_0' },
    });
    expect(noted).toEqual([expect.objectContaining({ batchId: 'mapping-profile', what: 'save-mapping' })]);

    await write(UNKNOWN.replaceAll(';1', ';2'), 'extrato.csv');
    expect(await textAt('/check?file=extrato.csv')).toContain('No errors: all 2 invoices can be sent.');
  });

  it('are never saved over another profile, nor under a name that is a path', async () => {
    await mkdir(join(inputDir, 'profiles'));
    await write('{"delimiter":","}', 'profiles/vendas.json');

    for (const [fields, text] of [
      [{ ...(await chosen()), name: 'vendas' }, 'a mapping of this name is there'],
      [{ ...(await chosen()), name: '../vendas' }, 'the name must be small letters'],
      [{ name: 'other' }, 'columns are missing or meant twice'],
    ] as const) {
      const answer = await save(fields);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(text)]);
    }
    expect(await profile()).toEqual({ delimiter: ',' });
    expect(noted).toEqual([]);
  });

  it('are not saved where their folder cannot be written, and the answer promises no later try', async () => {
    await write('a file where the folder belongs', 'profiles');

    const answer = await save({ ...(await chosen()), name: 'vendas' });

    const text = await answer.text();
    expect([answer.status, noted]).toEqual([503, []]);
    expect(text).toContain('Nothing was saved: make it writable, and save again.');
    expect(text).not.toContain('tried again by itself');
  });

  it('show a column that stands far to the right, and name those without a title', async () => {
    const words = ['', 'NIF do cliente', '210484276', '503334448'];
    const wide = UNKNOWN.split('\n').map((line, row) => `${line}${';'.repeat(120)}${words[row] ?? ''}`);
    await write(`${wide.join('\n')}\n`);

    expect(await pageOf(await chosen())).toContain('No errors: all 2 invoices can be sent.');
    expect((await save({ ...(await chosen()), name: 'vendas' })).status).toBe(303);
    expect(await profile()).toMatchObject({
      columns: { customer_tax_id: 'NIF do cliente' },
      ignore: ['NIF', ''],
    });
  });

  it('chosen for one header are not saved for another', async () => {
    const fields = await chosen();
    await write(UNKNOWN.replace('Quantos', 'Quantas'));

    expect((await save({ ...fields, name: 'vendas' })).status).toBe(400);
    expect(await readdir(inputDir)).toEqual(['vendas-2026-11.csv']);
  });

  it('refuse a later file that lacks a column which they name, also where Lote could do without', async () => {
    const withCustomer = UNKNOWN.replaceAll('999999990', '');
    await write(withCustomer);
    await save({ ...(await chosen({ ...CHOSEN, m7: 'customer_tax_id' })), name: 'vendas' });
    await write(withCustomer.replace(';NIF', ';Contribuinte'), 'vendas-2026-12.csv');

    expect(await textAt('/check?file=vendas-2026-12.csv')).toMatch(/found (?:&quot;)?.?Contribuinte/u);
  });

  it('leave a guess of the encoding a guess, and do not read the only part of a reference as something else', async () => {
    await write(Buffer.from(UNKNOWN, 'latin1'));
    const fields = await chosen({ ...CHOSEN, m0: 'invoice_ref', m1: 'none', m7: 'reference-part' });

    expect(await pageOf(await chosen())).toContain('windows-1252');
    await save({ ...fields, name: 'vendas' });
    expect(await profile()).toMatchObject({ ignore: ['Número', 'NIF'] });
    expect(await profile()).not.toHaveProperty('encoding');
  });

  it('take a word for a tax that stands further down than the first rows', async () => {
    const rows = Array.from({ length: 60 }, (_, at) => `A;${at};Ana Reis;Vela;2;1,50;23 %;`);
    const last = 'A;99;Ana Reis;Vela;2;1,50;seis;';
    await write([...UNKNOWN.split('\n').slice(0, 2), ...rows, last].join('\n'));
    const fields = { ...CHOSEN, word1: '', code1: '', m7: 'none' };

    expect(await pageOf(await chosen(fields))).toContain('1 of 61 invoices has an error');
    const added = { ...fields, word1: 'seis', code1: 'IVA_6' };
    expect(await pageOf(await chosen(added))).toContain('No errors: all 61 invoices can be sent.');
  });

  it.each([
    ['vendas-2026-11.csv', 'vendas'],
    ['vendas2026.csv', 'vendas'],
    ['2026-11.csv', '2026-11'],
    ['Notas de crédito.csv', 'notas-de-credito'],
  ])('suggest for %s the name %j', async (file, name) => {
    await write(UNKNOWN, file);

    expect(await pageOf({ ...(await chosen()), file })).toContain(`name="name" maxlength="64" value="${name}"`);
  });

  it('of a file that is no table cannot be chosen, and whatever a file holds is escaped', async () => {
    await write('Dear all\n', 'letter.txt');
    await write('<script>a</script>;"b""c"\n<img src=x>;2\n', 'x.csv');

    expect(await pageOf({ file: 'letter.txt' })).toContain('This file is no table with columns');
    const text = await pageOf({ file: 'x.csv' });
    expect(text).toContain('&lt;script&gt;a&lt;/script&gt;');
    for (const tag of ['<script>a', '<img']) expect(text).not.toContain(tag);
  });
});
