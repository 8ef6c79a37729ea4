import { createHash } from 'node:crypto';
import { chmodSync } from 'node:fs';
import iconv from 'iconv-lite';
import { afterAll, describe, expect, it } from 'vitest';
import { LoteError } from '../../../src/domain/errors.ts';
import type { RawRow } from '../../../src/domain/row.ts';
import { memoryRowStore } from '../../../src/ingest/row-stores.ts';
import { readFile } from '../../../src/ingest/read-file.ts';
import { HEADER, csvRow, ingestedText, temporaryFile, removeTemporaryFiles } from './ingested.ts';
import { hashFile } from '../../../src/ingest/file-chunks.ts';

afterAll(removeTemporaryFiles);

describe('readFile', () => {
  it('hashes the bytes of the file, refused or not', async () => {
    const good = `${HEADER}\n${csvRow()}\n`;

    expect((await ingestedText(good)).result.sha256).toBe(createHash('sha256').update(good).digest('hex'));
    expect((await ingestedText('%PDF-1')).result).toMatchObject({
      ok: false,
      refused: true,
      sha256: createHash('sha256').update('%PDF-1').digest('hex'),
    });
  });

  it('hands rows to the store in portions of 2,000, in file order', async () => {
    const rows = Array.from({ length: 4500 }, (_, at) => csvRow({ ref: `F${at}` }));
    const portions: number[] = [];
    const seen: RawRow[] = [];
    const store = {
      append(portion: readonly RawRow[]) {
        portions.push(portion.length);
        seen.push(...portion);
        return Promise.resolve();
      },
      async *groups() {},
    };

    const result = await readFile({ path: temporaryFile([HEADER, ...rows].join('\n')), store });

    expect(result).toMatchObject({ ok: true, rows: 4500, rowsWithoutInvoice: 0 });
    expect(portions).toEqual([2000, 2000, 500]);
    expect(seen.map(({ row }) => row)).toEqual(rows.map((_, at) => at + 2));
    expect(seen[7]).toEqual({
      row: 9,
      ref: 'F7',
      nif: '501964843',
      object: null,
      cells: ['F7', '501964843', null, null, 'Ana', null, 'EUR', 'Pão', '1', '2.50', 'IVA_23'],
    });
  });

  it.each([
    ['a CSV file', (refs: readonly string[]) => [HEADER, ...refs.map((ref) => csvRow({ ref })), ''].join('\n')],
    [
      'JSON',
      (refs: readonly string[]) =>
        refs
          .map((ref) =>
            JSON.stringify({
              ...{ invoice_ref: ref, merchant: { nif: '501964843' }, customer: { name: 'Ana' }, currency: 'EUR' },
              lines: [{ description: 'Pão', quantity: 1, unit_price: '2.50', tax_code: 'IVA_23' }],
            }),
          )
          .join('\n'),
    ],
  ])('finds only the invoice wrong in %s whose reference has more than 200 characters', async (_, fileOf) => {
    const refs = ['F1', 'L'.repeat(200), 'T'.repeat(201), 'F2'];
    const { result, invoices } = await ingestedText(fileOf(refs));

    expect(result).toMatchObject({ ok: true, rowsWithoutInvoice: 0 });
    expect(invoices.map(({ ok }) => ok)).toEqual([true, true, false, true]);
    const wrong = invoices[2];
    expect(wrong).toMatchObject({ ok: false, ref: `${'T'.repeat(199)}…` });
    expect(wrong?.findings).toMatchObject([{ code: 'reference-too-long', severity: 'error', row: wrong?.rows[0] }]);
    expect(wrong?.findings[0]?.message).toContain(
      `expected at most 200 characters, found 201, which begin with "${'T'.repeat(60)}…"`,
    );
  });

  it('gives a proof and a conversion that survive JSON', async () => {
    const { result } = await ingestedText(`${HEADER}\n${csvRow()}\n`);

    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    expect(result.proof).toMatchObject({
      encoding: { name: 'utf-8', how: 'proved' },
      delimiter: { value: ',', how: 'proved' },
      decimal: { mark: '.', how: 'proved', witness: { row: 2, column: 'unit_price', value: '2.50' } },
      dialect: { format: 'csv', delimiter: ',', lineEnd: '\n', headerRow: 1, header: HEADER.split(',') },
    });
  });

  it('fails on what is no readable file', async () => {
    const unreadable = temporaryFile('x');
    chmodSync(unreadable, 0o000);
    for (const path of ['/nowhere/at/all.csv', '/tmp']) {
      await expect(readFile({ path, store: memoryRowStore() })).rejects.toMatchObject({
        name: 'LoteError',
        code: 'file-unreadable',
      });
    }
    // The superuser reads everything: the case cannot be made there.
    if (process.getuid?.() !== 0)
      await expect(readFile({ path: unreadable, store: memoryRowStore() })).rejects.toBeInstanceOf(LoteError);
  });

  it('stops when it is told to', async () => {
    const signal = AbortSignal.abort(new Error('enough'));

    await expect(readFile({ path: temporaryFile(HEADER), store: memoryRowStore(), signal })).rejects.toThrow('enough');
  });

  it.each([
    ['loses a line that sells TOTAL Quartz 5W30', { description: 'TOTAL Quartz 5W30' }, 1],
    ['loses a line that sells Total Care', { description: 'Total Care' }, 1],
    ['knows a totals row by its label', { description: 'Total' }, 0],
    ['knows a totals row by a longer label without a price', { description: 'Total of the day', price: '' }, 0],
  ])('%s, without invoice and tax code', async (_name, cells, rowsLost) => {
    const rows = [csvRow({ ref: 'A' }), csvRow({ ref: '', nif: '', customer: '', tax: '', ...cells })];

    const { result } = await ingestedText(`${HEADER}\n${rows.join('\n')}\n`);

    expect(result).toMatchObject({ ok: true, rowsLost });
    if (rowsLost === 0) expect(result.findings).toMatchObject([{ code: 'totals-row', row: 3 }]);
  });

  it('sends no invoice below rows without a reference any of which may be a line of it', async () => {
    const rows = [
      csvRow({ ref: 'A', customer: 'Ana' }),
      csvRow({ ref: '', nif: '502757191', customer: 'Rui' }),
      csvRow({ ref: '', customer: 'Ana' }),
      csvRow({ ref: 'B', nif: '502757191', customer: 'Rui' }),
    ];

    const { invoices } = await ingestedText(`${HEADER}\n${rows.join('\n')}\n`);

    expect(invoices.map(({ ok }) => ok)).toEqual([false, false]);
  });

  it('refuses a name that is no encoding, and bytes that are not of the declared one', async () => {
    const bytes = iconv.encode(`${HEADER}\n${csvRow({ customer: 'João Gonçalves' })}\n`, 'cp850');
    const codeOf = async (content: string | Buffer, encoding: string) =>
      (await ingestedText(content, { encoding })).result.findings[0]?.code;

    await expect(ingestedText(bytes, { encoding: 'klingon' })).rejects.toMatchObject({ code: 'usage' });
    expect(await codeOf(bytes, 'UTF8')).toBe('encoding-damaged');
    expect(await codeOf(`\uFEFF${HEADER}\n`, 'cp850')).toBe('encoding-contradicted');
  });
});

describe('readFile on hostile files', () => {
  it('asks for 10,000 columns, and bounds the question', async () => {
    const extra = Array.from({ length: 10_000 }, (_, at) => `x${at}`).join(',');
    const { result } = await ingestedText(`${HEADER},${extra}\n${csvRow()},${extra}\n`);

    expect(result.findings[0]?.code).toBe('layout-unconfirmed');
    expect(result.findings[0]?.message.length).toBeLessThan(2000);
  });

  it.each([
    [
      'CSV',
      `${HEADER}\n${csvRow({ quantity: '9'.repeat(900_000), price: `1.${'3'.repeat(401)}` })}\n${csvRow({ ref: 'F2' })}\n`,
    ],
    [
      'JSON',
      `[{"invoice_ref":"F1","merchant":{"nif":"501964843"},"customer":{"name":"Ana"},"currency":"EUR","lines":[{"description":"x","quantity":${'9'.repeat(900_000)},"unit_price":1e-${'9'.repeat(1000)},"tax_code":"IVA_23"}]},{"invoice_ref":"F2","merchant":{"nif":"501964843"},"customer":{"name":"Ana"},"currency":"EUR","lines":[{"description":"x","quantity":1,"unit_price":2.5,"tax_code":"IVA_23"}]}]`,
    ],
  ])('makes an absurdly long number of %s a finding, in no time and few words', async (_, text) => {
    const { invoices } = await ingestedText(text);

    expect(invoices).toMatchObject([
      { ok: false, findings: [{ code: 'quantity-unreadable' }, { code: 'unit-price-unreadable' }] },
      { ok: true },
    ]);
    expect(JSON.stringify(invoices[0]).length).toBeLessThan(2000);
  });

  it('bounds the work on identities and headers of a megabyte', async () => {
    const long = '9'.repeat(500_000);
    const { result } = await ingestedText(
      `${HEADER},${long}\n${csvRow({ nif: long })},\n${csvRow({ ref: `${long}E` })},\n${csvRow()},\n`,
    );

    expect(result.findings[0]?.code).toBe('layout-unconfirmed');
    const named = await ingestedText(
      `${HEADER}\n${csvRow({ nif: long })}\n${csvRow({ ref: `${long}E` })}\n${csvRow()}\n`,
    );
    expect(named.result).toMatchObject({ ok: true, rows: 3, rowsWithoutInvoice: 1 });
    expect(JSON.stringify([result.findings, named.result.findings]).length).toBeLessThan(20_000);
  });

  it('names every lost row, and refuses a file with more than a thousand of them', async () => {
    const lost = (rows: number) =>
      ingestedText(
        [HEADER, csvRow(), ...Array.from({ length: rows }, () => csvRow({ nif: 'none', ref: '' })), ''].join('\n'),
      );
    const { result } = await lost(1000);
    const rows = result.findings.filter(({ row, severity }) => row !== null && severity === 'error');

    expect(result).toMatchObject({ ok: true, rows: 1001, rowsWithoutInvoice: 1000 });
    expect(result.findings[0]).toMatchObject({ code: 'rows-lost', severity: 'error' });
    expect(new Set(rows.map(({ row }) => row)).size).toBe(1000);
    expect((await lost(5000)).result).toMatchObject({
      ok: false,
      findings: { 0: { code: 'too-many-damaged-rows', row: 1003 } },
    });
  });

  it('bounds the warnings of a file, and has room for the errors behind them', async () => {
    const totals = Array.from({ length: 5000 }, () => 'Total,,,,,,,,');
    const { result } = await ingestedText([HEADER, csvRow(), ...totals, csvRow({ ref: '' }), ''].join('\n'));

    expect(result).toMatchObject({ ok: true, rows: 5002, rowsWithoutInvoice: 5001, rowsLost: 1 });
    expect(result.findings).toHaveLength(1003);
    expect(result.findings.at(-1)).toMatchObject({ code: 'warnings-omitted' });
    expect(result.findings.at(-1)?.message).toContain('4000 more');
    expect(result.findings.at(-2)).toMatchObject({ code: 'reference-missing', row: 5003 });
  });

  it('refuses a file in which too many rows do not fit the header', async () => {
    const rows = Array.from({ length: 1001 }, (_, at) => `${csvRow({ ref: `F${at}` })},oops`);
    const { result } = await ingestedText([HEADER, ...rows].join('\n'));

    expect(result).toMatchObject({ ok: false, findings: [{ code: 'too-many-damaged-rows', row: 1002 }] });
  });

  it.each([
    ['CSV', iconv.encode(`${HEADER}\n${csvRow({ description: 'a\0b' })}\n`, 'utf16le', { addBOM: true }), 'binary'],
    ['a JSON text', '[{"invoice_ref":"F1\\u0000"}]', 'json-nul'],
    ['a JSON name', '[{"a\\u0000":1}]', 'json-nul'],
  ])('refuses the character U+0000 in %s: a ledger cannot keep it', async (_, content, code) => {
    expect((await ingestedText(content)).result).toMatchObject({ ok: false, findings: [{ code }] });
  });

  it('never cuts a character in half where it shortens what it shows', async () => {
    const long = `x${'😀'.repeat(200)}`;
    const texts = [
      `${HEADER},${long}\n${csvRow({ quantity: long, currency: long, tax: long })},\n${csvRow({ nif: long })},\nTotal ${long},,,,,,,,\n`,
      `${HEADER},quantity${long}\n`,
      `${long},${HEADER.replace('quantity', long)}\n`,
      `[{"invoice_ref":"F1","merchant":{"nif":"501964843"},"${long}":1,"lines":[]}]`,
      `[{"${long}":1,"${long}":2}]`,
      `[{"merchant":{"nif":"${long}"}}]`,
    ];
    for (const text of texts) {
      const said = JSON.stringify(await ingestedText(text));

      expect(said).not.toMatch(/\\ud[89a-f]/i);
      expect(said.length).toBeLessThan(20_000);
    }
  });

  it.each([
    ['1,234.50', undefined, 'as "1,234.50" in row 2 shows'],
    ['2.50', '.', 'as the mark is declared'],
  ] as const)('says that it reads whole thousands beside %s', async (other, decimal, why) => {
    const rows = [csvRow({ price: `"${other}"` }), csvRow({ ref: 'F2', price: '"1,500"' })];

    const { result } = await ingestedText([HEADER, ...rows, ''].join('\n'), decimal === undefined ? {} : { decimal });

    expect(result).toMatchObject({ ok: true, findings: [{ code: 'thousands-grouped', row: 3, severity: 'warning' }] });
    expect(result.findings[0]?.message).toContain(`"1,500" is read as 1500, in whole thousands, ${why}`);
  });

  it.each([
    ['invoice_ref', 'F1'],
    ['merchant_nif', '50196'],
  ])('refuses a file that ends in %s without a line end', async (column, cut) => {
    const at = HEADER.split(',').indexOf(column);
    const last = (row: string): string => {
      const cells = row.split(',');
      return [...cells.toSpliced(at, 1), cells[at]].join(',');
    };
    const whole = [HEADER, csvRow({ ref: 'F12' }), csvRow({ ref: 'F12' })].map(last).join('\n');

    const { result } = await ingestedText(whole.slice(0, whole.lastIndexOf(',') + 1) + cut);

    expect(result).toMatchObject({ ok: false, findings: [{ code: 'truncated', row: 3 }] });
  });
});

describe('hashFile', () => {
  it.each([0, 1, 1_000_000])('gives the SHA-256 of %i bytes', async (length) => {
    const bytes = Buffer.alloc(length, 'ã');

    expect(await hashFile(temporaryFile(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it.each(['/', '/nowhere/at/all'])('fails clearly on %s', async (path) => {
    await expect(hashFile(path)).rejects.toMatchObject({
      code: 'file-unreadable',
      message: expect.stringContaining(path) as unknown,
    });
  });

  it('does not wait at a device or a pipe for bytes that may never come', async () => {
    await expect(hashFile('/dev/zero')).rejects.toMatchObject({
      code: 'file-unreadable',
      message: expect.stringContaining('not a regular file') as unknown,
    });
  });
});
