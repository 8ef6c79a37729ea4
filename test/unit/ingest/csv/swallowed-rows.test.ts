import { afterAll, describe, expect, it } from 'vitest';
import { ingestedText, removeTemporaryFiles } from '../ingested.ts';

afterAll(removeTemporaryFiles);

const TITLES = 'invoice_ref;merchant_nif;customer_name;description;quantity;unit_price;tax_code';
const CURRENCY = { currency: 'EUR' };

function row(ref: string, cells: { readonly customer?: string; readonly description?: string } = {}): string {
  return `${ref};501964843;${cells.customer ?? 'Ana'};${cells.description ?? 'Cabo 3m'};1;10.00;IVA_23`;
}

/** A quote opens before a description and closes behind a customer, in a row further down. */
function swallowed(...between: readonly string[]): readonly string[] {
  return [row('A1', { description: '"Cabo 3m' }), ...between, row('A9', { customer: 'Silva"' })];
}

async function read(lines: readonly string[], constants: Readonly<Record<string, string>> = CURRENCY) {
  const { result, invoices } = await ingestedText(`${lines.join('\n')}\n`, { constants });
  const errors = result.findings.filter(({ severity }) => severity === 'error');
  return { invoices, result: { ok: result.ok, errors } };
}

const refused = (line: number) => ({ ok: false, errors: [{ code: 'quote-misplaced', row: line }] });

describe('two stray quotes', () => {
  it.each([
    ['the header alone ends with a delimiter', `${TITLES};`, ''],
    ['the header alone ends with three', `${TITLES};;;`, ''],
    ['the rows alone end with a delimiter', TITLES, ';'],
    ['the rows alone end with three', TITLES, ';;;'],
    ['the rows end with fewer delimiters than the header', `${TITLES};;;`, ';'],
  ])('are refused where %s, and a whole row lies between', async (_name, header, end) => {
    const ending = (...rows: readonly string[]): readonly string[] => rows.map((text) => text + end);
    const first = await read([header, ...ending(...swallowed(row('A2')), row('B1'))]);
    const last = await read([header, ...ending(row('B1'), ...swallowed(row('A2')))]);

    expect(first.result).toMatchObject(refused(2));
    expect(last.result).toMatchObject(refused(3));
  });

  const rui = row('A2', { customer: 'Rui"' });
  const silva = row('A2', { customer: 'Silva"' });
  it.each([
    ['rows end in different ways', 2, [TITLES, ...swallowed(`${row('A2')};;`), row('B1'), `${row('B2')};;`]],
    ['a blank line lies between', 2, [TITLES, ...swallowed('')]],
    ['a totals row that is cut off lies between', 2, [TITLES, ...swallowed('Total;;;99')]],
    ['a row that is cut off lies between', 2, [TITLES, ...swallowed('B;501964843;Ana;Cabo')]],
    [
      'a whole row lies between two of one column',
      2,
      [...[TITLES, row('A', { description: '"special offer' }), row('B'), row('C', { description: 'screen 24"' })]],
    ],
    ['the rows stand one below the other', 3, [TITLES, row('B1'), ...swallowed()]],
    ['short rows, same merchant', 3, [TITLES, row('B1'), 'A1;502757191;"Ana', rui.replace('501964843', '502757191')]],
    ['short rows, another merchant', 3, [TITLES, row('B1'), 'A1;502757191;"Ana', rui]],
    [
      'short rows, another country',
      3,
      [TITLES, row('B1'), 'A1;502757191;"Ana', rui.replace('501964843', '12345678903')],
    ],
    [
      'one of the rows has a delimiter too many',
      2,
      [TITLES, row('A1', { description: '"Cabo; 3m' }), silva, row('B1')],
    ],
    ['a quote of the header is one of them', 1, [`${TITLES};"Notas`, `${row('A1')};x"`, `${row('A2')};x`]],
    [
      'a text stands before reference and tax number',
      2,
      [
        'description;customer_name;Notas;invoice_ref;merchant_nif;quantity;unit_price;tax_code',
        ...['"Cabo;Ana;x;A1;501964843;1;10.00;IVA_23', 'Cabo;Rui";x;A2;501964843;1;10.00;IVA_23'],
      ],
    ],
    ['all rows lack cells', 2, [TITLES, 'A1;501964843;"Ana', 'A2;501964843;Rui', 'A3;501964843;Eva";Cabo']],
    [
      'two cells hold the beginning and the end of a row',
      2,
      [
        ...[TITLES, row('A1', { customer: '"Ana' }), row('A2', { customer: 'Rui"', description: '"Cabo' })],
        row('A3', { description: '3m"' }),
      ],
    ],
  ] as const)('are refused where %s', async (_name, line, lines) => {
    expect((await read(lines)).result).toMatchObject(refused(line));
  });

  it('are refused where all rows are of one merchant, whom the file does not name', async () => {
    const titles = 'invoice_ref;customer_name;description;quantity;unit_price;tax_code';
    const lines = [titles, 'A1;Ana;"Cabo;1;10.00;IVA_23', 'A2;Rui";Cabo;1;10.00;IVA_23'];

    expect((await read(lines, { ...CURRENCY, merchant_nif: '501964843' })).result).toMatchObject(refused(2));
  });

  it('are searched for at once, also with a reference of half a million characters', async () => {
    const lines = Array.from({ length: 20_000 }, () => 'x1;12345678903;x;x;x;x;x').join('\n');

    const { result } = await read([TITLES, `${'A1'.repeat(200_000)};501964843;Ana;"${lines}";1;10.00;IVA_23`]);

    expect(result).toMatchObject(refused(2));
  });
});

describe('a text of several lines', () => {
  const long = row('A1', { description: '"choice of:\na; b; c; d; e; f; g; h; i; j\nend"' });
  const end = ';'.repeat(20);
  const broken = Array.from({ length: 100_000 }, () => '"\n"').join(';');
  const commas = '"bread, rolls, cakes, pies, tarts, rye, oats, milk\nand, butter, jam, salt, figs, eggs, tea"';

  it.each([
    [
      'may stand in a row that has too many cells',
      [false],
      [...[TITLES, row('A1', { customer: 'Silva; Lda', description: '"choice of\na; b"' })]],
    ],
    ['may have more delimiters in a line than any row has', [true, true], [TITLES, long, `${row('A2')};`]],
    ['may have as many delimiters as a row that is wrong', [true, false], [TITLES, long, `${row('A2')};;;too many`]],
    [
      'may have as many delimiters as a row',
      [true],
      [...[TITLES, row('A1', { description: commas })].map((line) => line.replaceAll(';', ','))],
    ],
    [
      'may stand in the last column, where rows end with many delimiters',
      [true],
      [...[`${TITLES};Notas${end}`, `${row('A1')};"two\nlines"${end}`]],
    ],
    ['may stand in a hundred thousand cells of a row, at no cost', [true], [TITLES, `${row('A1')};${broken}`]],
  ] as const)('%s', async (_name, valid, lines) => {
    const { invoices } = await read(lines);

    expect(invoices.map(({ ok }) => ok)).toEqual(valid);
    for (const one of invoices) if (!one.ok) expect(one.findings.map(({ code }) => code)).toContain('cell-count');
  });
});
