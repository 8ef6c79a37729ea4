import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { keptFile } from '../../../../src/app/files/kept-files.ts';
import { originalOf } from '../../../../src/app/files/original-of.ts';
import { xlsxOf } from '../../../support/files/workbook-file.ts';
import { handedBack, keptDirectory, readKept, type ReadKept } from '../../../support/files/confirmed-layout.ts';

const directory = keptDirectory();

const HEADER = [
  ...['invoice_ref', 'merchant_nif', 'customer_name', 'customer_tax_id', 'currency'],
  ...['description', 'quantity', 'unit_price', 'tax_code'],
];
const CELLS: Readonly<Record<string, string>> = {
  ...{ invoice_ref: 'F-1', merchant_nif: '501964843', customer_name: 'Ana', customer_tax_id: '', currency: 'EUR' },
  ...{ description: 'Vela', quantity: '1', unit_price: '2', tax_code: 'IVA_23' },
};

function ingest(content: string | Uint8Array, options: Parameters<typeof readKept>[2] = {}): Promise<ReadKept> {
  return readKept(directory, Buffer.from(content), options);
}

/** The table of the corrections of a CSV file whose invoices the service has all refused. */
async function corrections(ingested: ReadKept): Promise<string[][]> {
  return parse(await handedBack(directory, ingested), { delimiter: ';' });
}

function csvOf(table: readonly (readonly string[])[]): string {
  const quoted = (cell: string) => (/[";]/u.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return table.map((cells) => `${cells.map(quoted).join(';')}\n`).join('');
}

function dropped(...rows: readonly Partial<typeof CELLS>[]): string {
  return csvOf([HEADER, ...rows.map((row) => HEADER.map((name) => row[name] ?? CELLS[name] ?? ''))]);
}

/** Rows as a file of this form; the cells of a workbook are texts. */
function written(form: 'CSV' | 'JSON' | 'a workbook', rows: readonly Readonly<Record<string, string>>[]) {
  if (form === 'CSV') return dropped(...rows);
  if (form === 'a workbook') return xlsxOf([HEADER, ...rows.map((row) => HEADER.map((name) => row[name] ?? ''))]);
  const objects = rows.map(({ invoice_ref, currency, description, quantity, unit_price, tax_code, ...row }) => ({
    ...{ invoice_ref, currency, merchant: { nif: row['merchant_nif'] }, customer: { name: row['customer_name'] } },
    lines: [{ description, quantity, unit_price, tax_code }],
  }));
  return JSON.stringify(objects);
}

/** As a spreadsheet saves it: these cells have changed, and nothing else. */
function saved(table: readonly string[][], changes: Readonly<Record<string, string>>): string[][] {
  const [header = [], ...rows] = table;
  return [header, ...rows.map((cells) => cells.map((cell, at) => changes[header[at] ?? ''] ?? cell))];
}

function told({ invoices }: ReadKept): readonly unknown[] {
  return invoices.map((invoice) => {
    if (invoice.ok) return { sent: invoice.invoice.ref };
    const errors = invoice.findings.filter(({ severity }) => severity === 'error');
    return { ref: invoice.ref, nif: invoice.nif, codes: errors.map(({ code }) => code) };
  });
}

describe('corrections of a file in which only the first row of each invoice has its reference', () => {
  const REST = { invoice_ref: '', merchant_nif: '' };
  const TOTAL = { ...Object.fromEntries(HEADER.map((name) => [name, ''])), customer_name: 'Total' };
  const invoicesOf = (count: number, rest: Partial<typeof CELLS>) =>
    Array.from({ length: count }, (_, at) => [
      { invoice_ref: `F-${at}` },
      ...Array.from({ length: 9 }, (_line, line) => ({ ...rest, description: `Line ${line}` })),
    ]).flat();

  const warned = [...Array.from({ length: 1000 }, () => TOTAL), ...invoicesOf(2, REST)];

  it.each([
    ['a file with more than 1,000 findings of lost rows', invoicesOf(60, REST)],
    ['a file with 1,000 warnings before its lost rows', warned],
  ])('hand back each line of %s, so that dropped again they send nothing', async (_, rows) => {
    const lines = rows.filter((row) => row !== TOTAL);
    const found = await ingest(dropped(...rows));
    const table = await corrections(found);

    expect(found.invoices.map(({ ok }) => ok)).not.toContain(true);
    expect(table).toHaveLength(1 + lines.length);
    expect((await ingest(csvOf(table))).invoices.map(({ ok }) => ok)).not.toContain(true);
  });

  it.each([
    ['reference and tax number', REST],
    ['tax number', { merchant_nif: '' }],
  ])('are none where more than 1,000 rows lack the %s: the file is refused', async (_, rest) => {
    expect((await ingest(dropped(...invoicesOf(120, rest)))).read).toMatchObject({
      ok: false,
      findings: { 0: { code: 'too-many-damaged-rows' } },
    });
  });
});

describe('corrections that a spreadsheet has saved', () => {
  it.each([
    ['invoice_ref', '1E5', '100000'],
    ['invoice_ref', '00012', '12'],
    ['invoice_ref', '11-26', 'nov/26'],
    ['invoice_ref', '123456789012345678', '123456789012345000'],
    ['merchant_nif', '012345678', '12345678'],
    ['customer_tax_id', '012345678', '12345678'],
    ['description', '1/2', '01/fev'],
    ['quantity', '1.234', '1234'],
    ['unit_price', '12,50', '1250'],
    ['unit_price', '1.000,5', '10005'],
  ])('never send %s %j as %j', async (column, was, now) => {
    const other = was.includes(',') ? '2,5' : '2.5';
    const table = await corrections(await ingest(dropped({ [column]: was }, { invoice_ref: 'F-2', quantity: other })));

    const read = await ingest(csvOf(saved(table, { [column]: now })));

    const [first] = read.invoices;
    expect(first).toMatchObject({ ok: false });
    expect(first?.findings).toContainEqual(expect.objectContaining({ code: 'cell-changed', column }));
    const message = first?.findings.find(({ code }) => code === 'cell-changed')?.message;
    expect(message).toContain(JSON.stringify(was));
    expect(message).toContain(JSON.stringify(now));
  });

  it('keep the rows of an invoice together although only one of them lost its zeros', async () => {
    const first = await ingest(dropped({ invoice_ref: '00012' }, { invoice_ref: '00012', description: 'Pavio' }));
    const table = await corrections(first);
    const changed = [...table.slice(0, 2), ...saved([table[0] ?? [], table[2] ?? []], { invoice_ref: '12' }).slice(1)];

    expect(told(await ingest(csvOf(changed)))).toEqual([{ ref: '00012', nif: '501964843', codes: ['cell-changed'] }]);
  });

  it('come back with the cells as they were', async () => {
    const table = await corrections(await ingest(dropped({ invoice_ref: '00012', unit_price: '12,50' })));
    const again = await corrections(await ingest(csvOf(saved(table, { invoice_ref: '12', unit_price: '1250' }))));

    expect(again[1]?.slice(0, HEADER.length)).toEqual(table[1]?.slice(0, HEADER.length));
    expect(told(await ingest(csvOf(again)))).toEqual([{ sent: '00012' }]);
  });

  it.each<[string, Partial<typeof CELLS>, Record<string, string>, string]>([
    ['the same amounts are written differently', { unit_price: '1.234,50' }, { unit_price: '1234,5' }, 'F-1'],
    ['the same quantity is', { quantity: '1,0', unit_price: '2,50' }, { quantity: '1' }, 'F-1'],
    ['a person has written another reference', { invoice_ref: '00012' }, { invoice_ref: '00013' }, '00013'],
    ['a person has written another price', { unit_price: '12,50' }, { unit_price: '12,55' }, 'F-1'],
    ['lote_original was emptied', { invoice_ref: '00012' }, { invoice_ref: '12', lote_original: '' }, '12'],
    ['a person writes anew what was damaged before', { invoice_ref: '1E+05' }, { invoice_ref: '100000' }, '100000'],
  ])('are sent where %s', async (_, was, now, sent) => {
    const table = await corrections(await ingest(dropped(was)));

    expect(told(await ingest(csvOf(saved(table, now))))).toEqual([{ sent }]);
  });

  it('are compared also when they were saved as a workbook', async () => {
    const table = await corrections(await ingest(dropped({ invoice_ref: '00012' })));
    const [header = [], cells = []] = saved(table, { invoice_ref: '' });
    const row = cells.map((cell, at) => (header[at] === 'invoice_ref' ? { number: '12' } : cell));

    expect(told(await ingest(xlsxOf([header, row])))).toEqual([
      { ref: '00012', nif: '501964843', codes: ['cell-changed'] },
    ]);
  });

  it('are compared in each part of a reference that a profile builds', async () => {
    const columns = { columns: ['series', 'number'], separator: '/' };
    writeFileSync(join(directory, 'profiles', 'built.json'), JSON.stringify({ reference: columns }));
    const header = ['series', 'number', ...HEADER.slice(1)];
    const rest = HEADER.slice(1).map((name) => CELLS[name] ?? '');
    const table = await corrections(await ingest(csvOf([header, ['007', '1', ...rest]]), { profile: 'built' }));

    expect(told(await ingest(csvOf(saved(table, { series: '7' }))))).toEqual([
      { ref: '007/1', nif: '501964843', codes: ['cell-changed'] },
    ]);
  });

  it('end with a cell that is never empty, because some spreadsheets drop those of the end', async () => {
    const [header] = await corrections(await ingest(dropped({})));

    expect(header?.slice(HEADER.length)).toEqual(['lote_original', 'lote_state', 'lote_reason']);
  });

  it.each(['delimiter=124', 'profile=piped'])(
    'are read whatever delimiter it chose, where %s says another',
    async (by) => {
      writeFileSync(join(directory, 'profiles', 'piped.json'), JSON.stringify({ delimiter: '|' }));
      const header = [...HEADER, 'lote_original', 'lote_state', 'lote_reason', 'lote_read_as'];
      const text = csvOf([header, [...HEADER.map((name) => CELLS[name] ?? ''), '', 'rejected', 'no', by]]);

      for (const saved of [text, text.replaceAll(';', '|')])
        expect(told(await ingest(saved))).toEqual([{ sent: 'F-1' }]);
    },
  );

  it('are refused where the column is gone with which they are compared', async () => {
    const table = await corrections(await ingest(dropped({ invoice_ref: '00012' })));
    const without = table.map((cells) => cells.filter((_, at) => table[0]?.[at] !== 'lote_original'));

    const { read } = await ingest(csvOf(without));

    expect(read).toMatchObject({ ok: false, findings: [{ code: 'corrections-not-compared', severity: 'error' }] });
  });

  it('are sent also where all that is left of long references ends with zeros', async () => {
    const refs = ['12345678901234500', '12345678901234567'].map((ref) => ({ invoice_ref: ref }));
    const table = await corrections(await ingest(dropped(...refs)));

    expect(told(await ingest(csvOf(table.slice(0, 2))))).toEqual([{ sent: '12345678901234500' }]);
  });
});

describe('corrections of references that were cut in the dropped file', () => {
  const REFS = ['12345678901234500', '12345678901234600'];
  const DAMAGED = REFS.map((ref) => ({ ref, nif: '501964843', codes: ['reference-damaged'] }));
  const droppedRefs = () => ingest(dropped(...REFS.map((ref) => ({ invoice_ref: ref }))));

  it('are refused again as long as they are not corrected, however often they are dropped', async () => {
    const first = await droppedRefs();
    const second = await ingest(await handedBack(directory, first));
    const third = await ingest(await handedBack(directory, second));

    expect([first, second, third].map(told)).toEqual([DAMAGED, DAMAGED, DAMAGED]);
  });

  it('are refused again where something else was corrected, or one of them alone', async () => {
    const [header = [], first = [], second = []] = await corrections(await droppedRefs());
    const alone = csvOf([header, second]);
    const [whole = []] = saved([header, first], { invoice_ref: '12345678901234567' }).slice(1);
    const other = saved([header, second], { description: 'Pavio' })[1] ?? [];

    expect(told(await ingest(alone))).toEqual(DAMAGED.slice(1));
    expect(told(await ingest(csvOf([header, whole, other])))).toEqual([
      { sent: '12345678901234567' },
      ...DAMAGED.slice(1),
    ]);
  });

  it('are refused again when they were saved as a workbook', async () => {
    expect(told(await ingest(xlsxOf(await corrections(await droppedRefs()))))).toEqual(DAMAGED);
  });

  it('are sent where an operator says that they are right, and ask for it only once', async () => {
    const kept = await ingest(await handedBack(directory, await droppedRefs()), { lookAlikes: 'keep' });

    expect(told(kept)).toEqual(REFS.map((ref) => ({ sent: ref })));
    expect(told(await ingest(await handedBack(directory, kept)))).toEqual(REFS.map((ref) => ({ sent: ref })));
  });

  it('are sent where the word was taken out of lote_read_as', async () => {
    const text = (await handedBack(directory, await droppedRefs())).toString();

    expect(text).toContain('references=cut');
    expect(told(await ingest(text.replaceAll('references=cut', '')))).toEqual(REFS.map((ref) => ({ sent: ref })));
  });
});

describe('corrections of a file that was not read as its profile says', () => {
  function profile(options: Readonly<Record<string, unknown>>): string {
    writeFileSync(join(directory, 'profiles', 'overruled.json'), JSON.stringify(options));
    return 'overruled';
  }
  const ROWS = [
    { ...CELLS, quantity: '1.500' },
    { ...CELLS, invoice_ref: 'F-2', quantity: '2.5', unit_price: '3.5' },
  ];

  it.each(['CSV', 'JSON', 'a workbook'] as const)('have the decimal mark of that file, in %s', async (form) => {
    const first = await ingest(written(form, ROWS), { profile: profile({ decimal: ',' }), decimal: '.' });
    const [one] = first.invoices;
    const alone = { read: first.read, invoices: one === undefined ? [] : [one] };

    expect(one).toMatchObject({ ok: true, invoice: { lines: [{ quantity: '1.5' }] } });
    expect((await ingest(await handedBack(directory, alone))).invoices).toEqual([one]);
  });

  it('have it also in a column that shows none of it until it is filled in', async () => {
    const options = { profile: profile({ decimal: ',' }), decimal: '.' } as const;
    const table = await corrections(await ingest(written('CSV', [{ ...CELLS, quantity: '2.5' }]), options));

    const read = await ingest(csvOf(saved(table, { unit_price: '1.500' })));

    expect(read.invoices).toMatchObject([{ ok: true, invoice: { lines: [{ unitPrice: '1.5' }] } }]);
  });

  it.each([
    ['have its encoding', 'cp850', null],
    ['may be saved in UTF-8 whatever the encoding of that file', 'windows-1252', 'windows-1252'],
  ])('%s', async (_, encoding, saved) => {
    const cells = iconv.encode(dropped({ customer_name: 'Conceição' }), encoding);
    const first = await ingest(cells, { profile: profile({ encoding: 'windows-1252' }), encoding });
    const back = await handedBack(directory, first);

    const second = await ingest(saved === null ? back : iconv.decode(back, saved));

    expect(second.invoices).toMatchObject([{ ok: true, invoice: { customer: { name: 'Conceição' } } }]);
  });

  it('have its repeated rows refused', async () => {
    const options = { profile: profile({ duplicateRows: 'keep' }), duplicateRows: 'refuse' } as const;
    const first = await ingest(dropped({}, {}), options);
    const second = await ingest(await handedBack(directory, first));
    const third = await ingest(await handedBack(directory, second));

    expect(told(first)).toEqual([{ ref: 'F-1', nif: '501964843', codes: ['row-repeated'] }]);
    expect([second, third].map(told)).toEqual([told(first), told(first)]);
  });

  it('have that profile also where the first invoice is longer than what is read before the rows', async () => {
    const many = Array.from({ length: 3_000 }, (_, at) => ({
      description: `Vela ${at} ${'x'.repeat(60)}`,
      ...{ quantity: 1, unit_price: 2, tax_code: 'N' },
    }));
    const invoice = { invoice_ref: 'F-1', merchant: { nif: '501964843' }, customer: { name: 'Ana' }, currency: 'EUR' };
    const first = await ingest(JSON.stringify([{ ...invoice, lines: many }]), {
      profile: profile({ taxCodes: { N: 'IVA_23' } }),
    });

    const second = await ingest(await handedBack(directory, first));

    expect(second.read.proof['profile']).toMatchObject({ how: 'corrections' });
    expect(first.invoices).toMatchObject([{ ok: true }]);
    expect(second.invoices).toEqual(first.invoices);
  });

  it('have what that profile says where nothing else was declared', async () => {
    const rows = Array.from({ length: 2 }, () => ({ ...CELLS, quantity: '1.500' }));
    const first = await ingest(written('CSV', rows), { profile: profile({ decimal: ',', duplicateRows: 'keep' }) });

    expect(first.invoices).toMatchObject([{ ok: true, invoice: { lines: [{ quantity: '1500' }, {}] } }]);
    expect((await ingest(await handedBack(directory, first))).invoices).toEqual(first.invoices);
  });

  it('are refused where an unchanged number would be another one', async () => {
    const first = await ingest(written('CSV', ROWS.slice(0, 1)), { decimal: '.' });
    const table = await corrections(first);

    const { read } = await ingest(csvOf(table), { decimal: ',' });

    expect(read).toMatchObject({ ok: false, findings: [{ code: 'decimal-not-as-declared', column: 'quantity' }] });
    expect(read.findings[0]?.message).toContain('lote_original');
    const emptied = await ingest(csvOf(saved(table, { lote_original: '' })), { decimal: ',' });
    expect(emptied.invoices).toMatchObject([{ ok: true, invoice: { lines: [{ quantity: '1500' }] } }]);
  });

  it('are refused where a corrected number has another mark than an unchanged one, and nothing says which', async () => {
    const rows = [{ unit_price: '1.234' }, { invoice_ref: 'F-2', unit_price: 'free' }];
    const first = await ingest(dropped(...rows), { decimal: ',' });
    const [header = [], kept = [], wrong = []] = saved(await corrections(first), { lote_read_as: '' });
    const corrected = wrong.map((cell) => (cell === 'free' ? '12.50' : cell));

    const { read } = await ingest(csvOf([header, kept, corrected]));

    expect(first.invoices).toMatchObject([{ invoice: { lines: [{ unitPrice: '1234' }] } }, { ok: false }]);
    expect(read).toMatchObject({ ok: false, findings: [{ code: 'decimal-contradictory', column: 'unit_price' }] });
  });
});

describe('the kept copy of a file', () => {
  it('is not read for corrections when its bytes are not those that were read', async () => {
    const { read } = await ingest(dropped({ unit_price: '2,50' }));
    const { sha256, proof } = read;
    const path = keptFile(directory, sha256);
    writeFileSync(path, (await readFile(path, 'utf8')).replace('2,50', '9,50'));

    expect(await originalOf({ file: 'dropped.csv', state: 'finished', sha256, proof }, directory)).toBeNull();
  });
});
