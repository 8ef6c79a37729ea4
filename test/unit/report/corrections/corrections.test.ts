import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/domain/invoice.ts';
import { OUTCOMES } from '../../../../src/domain/invoice-state.ts';
import { csvCorrections, jsonCorrections } from '../../../../src/report/corrections/write-corrections.ts';
import { isCorrectable, planCorrections } from '../../../../src/report/corrections/corrections-plan.ts';
import type { CsvDialect, OriginalJson } from '../../../../src/report/corrections/original-file.ts';
import { batchInvoice, each, portionsOf, textOf, unsentInvoice, finding } from '../batch-invoices.ts';
import type { BatchInvoice } from '../../../../src/domain/records/batch-record.ts';

const DIALECT: CsvDialect = { delimiter: ';', newline: '\r\n', encoding: 'utf8', byteOrderMark: false };
const HEADER = ['invoice_ref', 'description', 'unit_price'];
const RECORDS = [
  { row: 2, cells: ['F-1', 'Café', '1,50'] },
  { row: 3, cells: ['F-2', '=evil()', '-2,50'] },
  { row: 4, cells: ['F-1', 'Chá; verde', '3'] },
  { row: 5, cells: ['F-3', 'Água', 'x'] },
];
const REFUSED = { code: 'tax-code-unknown', message: 'Unknown\ntax code.' };

function csv(dialect: Partial<CsvDialect> = {}, header = HEADER, records = RECORDS) {
  return {
    kind: 'csv',
    ...{ readAs: '', extension: 'csv', header, dialect: { ...DIALECT, ...dialect } },
    records: each(records.map((record) => ({ ...record, original: `was ${record.row}` }))),
  } as const;
}

function plan(invoices: readonly BatchInvoice[], findings: readonly Finding[] = []) {
  return planCorrections(portionsOf(invoices), findings);
}

/** An invoice of these rows that is wrong as a whole. */
const invalid = (...rows: readonly number[]) => unsentInvoice({ rows, state: 'invalid', reason: REFUSED });

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

it('corrects definite noes alone, and held invoices only when merchant details are what is missing', () => {
  const correctable = (code: string) =>
    OUTCOMES.filter((state) => isCorrectable({ state, reason: { code, message: '' } })).toSorted();
  const noes = ['conflict', 'failed', 'invalid', 'rejected'];

  expect(correctable('failure-budget-spent')).toEqual(noes);
  expect(correctable('merchant-details-missing')).toEqual([...noes, 'held'].toSorted());
});

describe('csvCorrections', () => {
  it('hands back whole invoices in the file order, with state and reason at the end of each row', async () => {
    const rejected = batchInvoice({ ref: 'F-1', rows: [2, 4], state: 'rejected', reason: REFUSED });

    const text = await textOf(csvCorrections(csv(), await plan([rejected, batchInvoice({ ordinal: 2, rows: [3] })])));

    expect(text).toBe(
      'invoice_ref;description;unit_price;lote_original;lote_state;lote_reason\r\n' +
        'F-1;Café;"1,50";was 2;rejected;tax-code-unknown: Unknown tax code.\r\n' +
        'F-1;"Chá; verde";3;was 4;rejected;tax-code-unknown: Unknown tax code.\r\n',
    );
  });

  it('makes formulas inert and leaves negative amounts alone', async () => {
    const failed = batchInvoice({ rows: [3], state: 'failed', reason: REFUSED });

    const text = await textOf(csvCorrections(csv(), await plan([failed])));

    expect(text).toContain(`F-2;'=evil();"-2,50";was 3;failed;`);
  });

  it.each(['windows-1252', 'utf-16le', 'cp850'])('writes in the encoding of the file: %s', async (encoding) => {
    const bytes = await bytesOf(csvCorrections(csv({ encoding }), await plan([invalid(2, 4)])));

    expect(iconv.decode(bytes, encoding)).toContain('Café');
    expect(bytes.includes(iconv.encode('Chá; verde', encoding, { addBOM: false }))).toBe(true);
  });

  it('begins with a byte order mark when the file did, and with one only', async () => {
    for (const [encoding, start] of [
      ['utf8', [0xef, 0xbb, 0xbf, 0x69]],
      ['utf-16le', [0xff, 0xfe, 0x69, 0]],
    ] as const) {
      const bytes = await bytesOf(csvCorrections(csv({ byteOrderMark: true, encoding }), await plan([invalid(2)])));
      expect([...bytes.subarray(0, 4)]).toEqual(start);
    }
  });

  it('replaces the columns of a corrections file that came back and is still wrong', async () => {
    const header = ['lote_state', 'invoice_ref', ' lote_reason '];
    const records = [{ row: 2, cells: ['rejected', 'F-1', 'old'] }];
    const original = csv({ newline: '\n', delimiter: ',' }, header, records);

    const text = await textOf(csvCorrections(original, await plan([invalid(2)])));

    expect(text).toBe(
      'invoice_ref,lote_original,lote_state,lote_reason\nF-1,was 2,invalid,tax-code-unknown: Unknown tax code.\n',
    );
  });

  it('does not add a second quote to the cells of a corrections file that came back', async () => {
    const header = ['description', 'lote_state', 'lote_reason'];
    const records = [{ row: 2, cells: ["'=evil()", '', ''] }];

    const text = await textOf(csvCorrections(csv({}, header, records), await plan([invalid(2)])));

    expect(text).toContain("\n'=evil();was 2;invalid");
  });

  it('keeps cells that stand beyond the header, behind its own columns', async () => {
    const records = [{ row: 2, cells: ['F-1', 'Coffee', '1', '50'] }];

    const text = await textOf(csvCorrections(csv({}, HEADER, records), await plan([invalid(2)])));

    expect(text).toContain('F-1;Coffee;1;was 2;invalid;tax-code-unknown: Unknown tax code.;50\r\n');
  });

  it('names every error of an invalid invoice, not the warnings', async () => {
    const findings: Finding[] = [
      finding(5, 'unit_price', 'unit-price-unreadable', 'Row 5: found "x"'),
      finding(5, null, 'odd', 'Odd.', 'warning'),
      finding(5, 'tax_code', 'tax-code-missing', 'Row 5: no tax code'),
    ];

    const text = await textOf(
      csvCorrections(csv(), await plan([unsentInvoice({ rows: [5], state: 'invalid', findings })])),
    );

    expect(text).toContain('unit-price-unreadable: Row 5: found ""x""; tax-code-missing: Row 5: no tax code');
    expect(text).not.toContain('odd');
  });

  it('hands back bad rows that could not be taken for an invoice, and no totals row', async () => {
    const findings: Finding[] = [
      finding(3, 'invoice_ref', 'ref-missing', 'No reference.'),
      finding(5, null, 'totals-row', 'Totals.', 'info'),
      finding(null, null, 'whole-file', 'Whole file.'),
    ];

    const text = await textOf(csvCorrections(csv(), await plan([], findings)));

    expect(text.split('\r\n').slice(1)).toEqual([`F-2;'=evil();"-2,50";was 3;invalid;ref-missing: No reference.`, '']);
  });

  it('refuses to hand back half an invoice, and an encoding that it cannot write', async () => {
    const half = csvCorrections(csv(), await plan([invalid(2, 99)]));
    const foreign = csvCorrections(csv({ encoding: 'martian' }), await plan([]));

    await expect(textOf(half)).rejects.toMatchObject({ code: 'file-changed' });
    await expect(textOf(foreign)).rejects.toMatchObject({ code: 'file-unreadable' });
  });
});

describe('jsonCorrections', () => {
  const objects = [
    {
      rows: [1, 2],
      members: [
        ['invoice_ref', '"F-1"'],
        ['lines', '[{"unit_price": 1.10000000000000000001}, {"quantity": 1}]'],
      ],
    },
    { rows: [3], members: [['invoice_ref', '"F-2"']] },
    {
      rows: [4],
      members: [
        ['lote_state', '"failed"'],
        ['invoice_ref', '"a\\"},{"'],
        ['lote_reason', '{"x":[1]}'],
        ['lines', '[]'],
      ],
    },
  ] as const;
  const original = (format: OriginalJson['format']): OriginalJson => ({
    kind: 'json',
    ...{ readAs: '', format, objects: each(objects) },
  });
  const rejected = batchInvoice({ rows: [1, 2], state: 'rejected', reason: REFUSED });
  const conflict = unsentInvoice({ ordinal: 2, rows: [4], state: 'conflict', reason: REFUSED });

  it('hands back whole objects with number tokens as they were', async () => {
    const text = await textOf(jsonCorrections(original('array'), await plan([rejected])));

    expect(text).toContain('1.10000000000000000001');
    expect(JSON.parse(text)).toMatchObject([
      { invoice_ref: 'F-1', lote_state: 'rejected', lote_reason: 'tax-code-unknown: Unknown\ntax code.' },
    ]);
  });

  it('replaces members that Lote wrote before, so that no key stands twice', async () => {
    const text = await textOf(jsonCorrections(original('ndjson'), await plan([conflict])));

    expect(text.match(/lote_state/gu)).toHaveLength(1);
    expect(JSON.parse(text)).toEqual({
      invoice_ref: 'a"},{',
      lines: [],
      lote_state: 'conflict',
      lote_reason: 'tax-code-unknown: Unknown\ntax code.',
    });
  });

  it.each(['array', 'invoices', 'ndjson'] as const)('keeps the form of the file: %s', async (format) => {
    const text = await textOf(jsonCorrections(original(format), await plan([rejected, conflict])));

    const lines = text.trimEnd().split('\n');
    const invoices: unknown = format === 'ndjson' ? lines.map((line) => JSON.parse(line) as unknown) : JSON.parse(text);
    expect(format === 'invoices' ? invoices : { invoices }).toMatchObject({
      invoices: [{ invoice_ref: 'F-1' }, { lote_state: 'conflict' }],
    });
  });

  it('refuses to hand back fewer rows than it should', async () => {
    const short = jsonCorrections(original('array'), await plan([invalid(7)]));

    await expect(textOf(short)).rejects.toMatchObject({ code: 'file-changed' });
  });
});
