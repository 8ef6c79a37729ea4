import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import iconv from 'iconv-lite';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { checkCommand, type CheckCommand } from '../../../../src/cli/commands/check.ts';
import { batchFile, testInvoices, writeInvoiceFile } from '../../../support/files/batch-file.ts';
import { HEADER, csvRow } from '../../ingest/ingested.ts';
import { printed } from '../printed.ts';

let directory: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
});

async function file(name: string, text: string | Uint8Array): Promise<string> {
  const path = join(directory, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

function check(files: readonly string[], over: Partial<CheckCommand> = {}): Promise<number> {
  const env = { LOTE_INPUT_DIR: join(directory, 'input'), LOTE_DATA_DIR: join(directory, 'data') };
  return checkCommand(env, { files, json: true, ...over });
}

/** What a person reads of the check of a file. */
async function said(path: string, over: Partial<CheckCommand> = {}): Promise<string> {
  const { stdout } = printed();
  await check([path], { json: false, ...over });
  return stdout().replaceAll(`${directory}/`, '');
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
    printed();

    expect(await check([await file('erp-11.csv', EXPORT)], { saveProfile: 'erp' })).toBe(0);
    expect(await check([await file('other.csv', EXPORT.replaceAll('F/', 'G/'))])).toBe(0);
    const wider = EXPORT.replace('Tipo', 'Tipo;Desconto').replaceAll(/(FT|NC)\n/gu, '$1;5\n');
    expect(await check([await file('erp-12.csv', wider)])).toBe(2);
  });

  it('is saved also while a column is missing, and refused until a person has named it in the profile', async () => {
    const { stdout } = printed();
    const path = await file('erp.csv', EXPORT.replace('Preço', 'Valor'));
    const profile = join(directory, 'input', 'profiles', 'erp.json');

    expect(await check([path], { json: false })).toBe(2);
    expect(stdout()).toContain('no column for unit_price yet: name its header in "columns" of the profile');
    expect(await check([path], { saveProfile: 'erp' })).toBe(2);
    const { columns, ignore, ...others } = JSON.parse(await readFile(profile, 'utf8')) as Record<string, object>;
    const corrected = {
      ...others,
      columns: { ...columns, unit_price: 'Valor' },
      skip: { Tipo: ['NC'] },
      invoices: { Tipo: ['FT'] },
    };
    expect(ignore).toEqual(['Valor', 'Tipo']);
    await writeFile(profile, JSON.stringify(corrected));
    expect(await check([path])).toBe(0);
    expect(stdout()).toContain('1 rows are no invoices by the mapping profile and were skipped (Tipo: NC)');
    expect(await check([await file('erp-13.csv', (await readFile(path, 'utf8')).replace('NC', 'ND'))])).toBe(1);
    expect(stdout()).toContain('expected a value that the mapping profile names');
    await expect(check([path], { saveProfile: 'erp' })).rejects.toThrow('never overwritten');
    await expect(check([path, path], { saveProfile: 'erp-2' })).rejects.toThrow('expected one file');
  });
});

const PORTUGUESE = [
  'Relatório de faturas;;;;;;;',
  '',
  'Nº Fatura;Contribuinte;Nome do Cliente;Moeda;Descrição;Qtd.;P. unitário;IVA;Notas',
  'FT 1;501964843;João;EUR;Pão;1,5;1.234,56;IVA_23;',
  'FT 1;501964843;João;EUR;Café;2;1.234;IVA_23;',
  'FT 2;501964843;Ana;EUR;Chá;duas;3,10;IVA_23;',
  'Total;;;;;;1.240,00;;',
  '',
].join('\r\n');

describe('lote check says', () => {
  it('nothing that a terminal takes for a command, whatever the name, the header and the cells hold', async () => {
    const turned = 'A\u202Ena';
    const header = `${HEADER},"x\u001B]0;title\u0007\n  findings: none"`;
    const path = await file('may\u202Evsc\u001B[2J.csv', `${header}\n${csvRow({ customer: turned })},z\n`);

    await file('input/profiles/turned.json', JSON.stringify({ ignore: [header.split('"')[1]] }));
    const text = await said(path, { profile: 'turned' });

    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    expect(text).toContain(`may vsc [2J.csv: 1 invoices`);
    expect(text).toContain('not sent     "x ]0;title   findings: none"');
    expect(text, 'the bytes, in another spelling').toContain('"name":"A\\u202ena"');
  });

  it('how a file was read and by which rows, its totals, its findings and the bytes', async () => {
    const path = await file('invoices.csv', iconv.encode(PORTUGUESE, 'windows-1252'));
    await said(path, { saveProfile: 'faturas' });
    const text = await said(path);
    const sha256 = /sha256 ([0-9a-f]{64})/u.exec(text)?.[1] ?? '';

    expect(text).toBe(`invoices.csv: 2 invoices from 4 rows, 1 invalid
  read as:
    profile      faturas, sha256 ${sha256}, by header
    encoding     windows-1252, assumed: "Relatório", "Nº", "Descrição"
    format       csv
    delimiter    ";", proved; header in row 3
    column       invoice_ref <- "Nº Fatura" (column 1)
    column       merchant_nif <- "Contribuinte" (column 2)
    column       customer_name <- "Nome do Cliente" (column 3)
    column       currency <- "Moeda" (column 4)
    column       description <- "Descrição" (column 5)
    column       quantity <- "Qtd." (column 6)
    column       unit_price <- "P. unitário" (column 7)
    column       tax_code <- "IVA" (column 8)
    not sent     "Notas"
    numbers      decimal comma, proved by "1,5" in row 4, Qtd.
  control totals, to compare with the source:
    rows         4, of them in no invoice 1 (totals rows 1, lost 0)
    invoices     2, of them invalid 1
    net EUR      4319.84, of it valid 4319.84
    no amount    1 invoices whose amount cannot be read
  findings:
    error quantity-unreadable (1)
      Row 6, Qtd.: expected a number with a decimal comma, found "duas"
    warning thousands-grouped (1)
      Row 5, P. unitário: "1.234" is read as 1234, in whole thousands, as "1.234,56" in row 4 shows
    warning encoding-assumed (1)
      The file is not UTF-8 and was read as windows-1252: "Relatório", "Nº", "Descrição". If these words are wrong, declare the encoding of the file (for example --encoding cp850), or save it as UTF-8
    warning totals-row (1)
      Row 7 ("Total") is a totals row and not part of an invoice
    info preamble (1)
      The header stands in row 3; what is above it was left out
    info profile-used (1)
      The file was read with the mapping profile faturas (sha256 ${sha256.slice(0, 12)}…), which names exactly its columns
  first invoices, exactly as they would be sent:
    FT 1 of merchant 501964843, rows 4, 5
      {"merchant_id":"mrc_to_be_looked_up","customer":{"name":"João"},"currency":"EUR","lines":[{"description":"Pão","quantity":1.5,"unit_price":1234.56,"tax_code":"IVA_23"},{"description":"Café","quantity":2,"unit_price":1234,"tax_code":"IVA_23"}]}
`);
  });

  it('of a refused file how far it was understood, the two readings, and how to decide', async () => {
    const text = await said(await file('invoices.csv', `${HEADER}\n${csvRow({ price: '1.234' })}\n`));

    for (const words of [
      'invoices.csv: REFUSED, nothing of it would be sent',
      'delimiter    ",", proved; header in row 1',
      'column       unit_price <- "unit_price" (column 7)',
      '"1.234" in row 2 can mean 1.234 (decimal point) or 1234 (decimal comma)',
      '--decimal . or --decimal ,',
    ])
      expect(text).toContain(words);
    expect(text).not.toContain('control totals');
  });

  it('a finding that a thousand rows share once, with its first rows', async () => {
    const rows = Array.from({ length: 1000 }, (_, at) => csvRow({ ref: `F${at}`, quantity: 'x' }));

    const text = await said(await file('invoices.csv', [HEADER, ...rows, ''].join('\n')));

    expect(text).toContain('error quantity-unreadable (1000)');
    expect(text).toContain('… and 997 more (--json lists them)');
    expect(text.split('\n').filter((line) => line.includes('quantity: expected'))).toHaveLength(3);
  });

  it('aloud that rows were lost, and one file after the other', async () => {
    const { stdout } = printed();
    const lost = await file('lost.csv', `${HEADER}\n${csvRow()}\n${csvRow({ ref: '', customer: 'Rui' })}\n`);

    await check([lost, await file('empty.csv', '')], { json: false });

    const [first, second] = stdout().split('\n\n');
    expect(first).toContain('1 invoices from 2 rows, 0 invalid, 1 ROWS LOST');
    expect(first).toContain('in no invoice 1 (totals rows 0, lost 1)');
    expect(second).toContain('REFUSED, nothing of it would be sent');
  });

  it.each<[string, Partial<CheckCommand>, string]>([
    ['another number of invoices', { expectInvoices: 3 }, 'expected 3 invoices, found 2'],
    ['another net', { expectNet: { EUR: '2.51' } }, 'expected net EUR 2.51, found 2.5'],
    ['another currency', { expectNet: { USD: '2.50' } }, 'expected net USD 2.5, found 0'],
    ['an invalid row where the file is held', { onInvalid: 'hold' }, 'NOTHING WOULD BE SENT'],
  ])('that nothing would be sent for %s', async (_, options, words) => {
    const text = await said(
      await file('bad.csv', `${HEADER}\n${csvRow()}\n${csvRow({ ref: 'F2', quantity: 'x' })}\n`),
      options,
    );

    expect(text.split('\n')[1]).toContain('NOTHING WOULD BE SENT');
    expect(text).toContain(words);
  });

  it('which sheet of a workbook is read, and which are not', async () => {
    const book = new URL('../../../golden/workbooks/openpyxl-hidden.xlsx', import.meta.url);
    const text = await said(fileURLToPath(book));

    expect(text).toContain('sheet        "Faturas", only-one; header in row 1');
    expect(text).toContain('hidden       sheets "Antigas", not read');
    expect(text).toContain('Row 3: the row is hidden');
  });
});
