import { fileURLToPath } from 'node:url';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkText } from '../../../../src/cli/output/check-text.ts';
import { proposedProfile } from '../../../support/files/confirmed-layout.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { checkFile, type CheckOptions } from '../../../../src/app/files/check-file.ts';
import { HEADER, csvRow } from '../../ingest/ingested.ts';

let directory: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
  mkdirSync(join(directory, 'profiles'));
});

function file(content: string | Uint8Array, name = 'invoices.csv'): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

async function said(path: string, options: CheckOptions = {}): Promise<string> {
  return checkText(await checkFile(path, directory, options)).replaceAll(`${directory}/`, '');
}

const EXPORT = [
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
    const path = file(`${header}\n${csvRow({ customer: turned })},z\n`, 'may\u202Evsc\u001B[2J.csv');

    writeFileSync(join(directory, 'profiles', 'turned.json'), JSON.stringify({ ignore: [header.split('"')[1]] }));
    const text = await said(path, { profile: 'turned' });

    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    expect(text).toContain(`may vsc [2J.csv: 1 invoices`);
    expect(text).toContain('not sent     "x ]0;title   findings: none"');
    expect(text, 'the bytes, in another spelling').toContain('"name":"A\\u202ena"');
  });

  it('how a file was read and by which rows, its totals, its findings and the bytes', async () => {
    const path = file(iconv.encode(EXPORT, 'windows-1252'));
    writeFileSync(join(directory, 'profiles', 'faturas.json'), (await proposedProfile(path)) ?? '');
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
      {"merchant_id":"mrc_to_be_looked_up","customer":{"name":"João"},"currency":"EUR","lines":[{"description":"Pão","quantity":1.5,"unit_price":1234.56,"tax_code":"IVA_23"},{"description":"Café","quantity":2,"unit_price":1234,"tax_code":"IVA_23"}]}`);
  });

  it('of a refused file how far it was understood, the two readings, and how to decide', async () => {
    const text = await said(file(`${HEADER}\n${csvRow({ price: '1.234' })}\n`));

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

    const text = await said(file([HEADER, ...rows, ''].join('\n')));

    expect(text).toContain('error quantity-unreadable (1000)');
    expect(text).toContain('… and 997 more (--json lists them)');
    expect(text.split('\n').filter((line) => line.includes('quantity: expected'))).toHaveLength(3);
  });

  it('aloud that rows were lost', async () => {
    const text = await said(file(`${HEADER}\n${csvRow()}\n${csvRow({ ref: '', customer: 'Rui' })}\n`));

    expect(text).toContain('1 invoices from 2 rows, 0 invalid, 1 ROWS LOST');
    expect(text).toContain('in no invoice 1 (totals rows 0, lost 1)');
  });

  it.each<[string, CheckOptions, string]>([
    ['another number of invoices', { expectInvoices: 2 }, 'expected 2 invoices, found 1'],
    ['another net', { expectNet: { EUR: '2.51' } }, 'expected net EUR 2.51, found 2.5'],
    ['another currency', { expectNet: { USD: '2.50' } }, 'expected net USD 2.5, found 0'],
  ])('that nothing would be sent for %s', async (_, options, words) => {
    const text = await said(file(`${HEADER}\n${csvRow()}\n`), options);

    expect(text.split('\n')[1]).toContain('NOTHING WOULD BE SENT');
    expect(text).toContain(words);
  });

  it('that nothing would be sent beside an invalid row when asked to hold, and all of it when the totals are right', async () => {
    const good = file(`${HEADER}\n${csvRow()}\n`, 'good.csv');
    const bad = file(`${HEADER}\n${csvRow()}\n${csvRow({ ref: 'F2', quantity: 'x' })}\n`, 'bad.csv');

    expect(await said(bad, { onInvalid: 'hold' })).toContain('NOTHING WOULD BE SENT');
    expect(await said(bad, { onInvalid: 'skip' })).not.toContain('NOTHING');
    const right = { onInvalid: 'hold', expectInvoices: 1, expectNet: { EUR: '2.500' } } as const;
    expect(await said(good, right)).not.toContain('NOTHING');
  });

  it('which sheet of a workbook is read, and which are not', async () => {
    const book = new URL('../../../golden/workbooks/openpyxl-hidden.xlsx', import.meta.url);
    const text = await said(fileURLToPath(book));

    expect(text).toContain('sheet        "Faturas", only-one; header in row 1');
    expect(text).toContain('hidden       sheets "Antigas", not read');
    expect(text).toContain('Row 3: the row is hidden');
  });
});
