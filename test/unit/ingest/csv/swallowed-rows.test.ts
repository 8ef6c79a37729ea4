import { afterAll, describe, expect, it } from 'vitest';
import { ingestedText, removeTemporaryFiles } from '../ingested.ts';

afterAll(removeTemporaryFiles);

const TITLES = 'invoice_ref;merchant_nif;customer_name;description;quantity;unit_price;tax_code';
const OPTIONS = { constants: { currency: 'EUR' } };

function row(ref: string, cells: { readonly customer?: string; readonly description?: string } = {}): string {
  return `${ref};501964843;${cells.customer ?? 'Ana'};${cells.description ?? 'Cabo 3m'};1;10.00;IVA_23`;
}

/** A quote opens before a description and closes behind a customer, in a row further down. */
function swallowed(...between: readonly string[]): readonly string[] {
  return [row('A1', { description: '"Cabo 3m' }), ...between, row('A9', { customer: 'Silva"' })];
}

function ending(end: string, rows: readonly string[]): readonly string[] {
  return rows.map((text) => text + end);
}

async function read(lines: readonly string[]) {
  const { result, invoices } = await ingestedText(`${lines.join('\n')}\n`, OPTIONS);
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
    const first = await read([header, ...ending(end, [...swallowed(row('A2')), row('B1')])]);
    const last = await read([header, ...ending(end, [row('B1'), ...swallowed(row('A2'))])]);

    expect(first.result).toMatchObject(refused(2));
    expect(last.result).toMatchObject(refused(3));
  });

  it('are refused where rows end in different ways', async () => {
    const { result } = await read([TITLES, ...swallowed(`${row('A2')};;`), row('B1'), `${row('B2')};;`]);

    expect(result).toMatchObject(refused(2));
  });
});

describe('two stray quotes in different columns', () => {
  it('are refused where the rows stand one below the other', async () => {
    const { result } = await read([TITLES, row('B1'), ...swallowed()]);

    expect(result).toMatchObject(refused(3));
  });

  it.each([
    ['of the same merchant', '502757191'],
    ['of another merchant', '501964843'],
    ['of a merchant of another country', '12345678903'],
  ])('are refused where short rows look like one, and the second one is %s', async (_name, nif) => {
    const short = 'A1;502757191;"Ana';

    const { result } = await read([
      TITLES,
      row('B1'),
      short,
      row('A2', { customer: 'Rui"' }).replace('501964843', nif),
    ]);

    expect(result).toMatchObject(refused(3));
  });

  it('are refused where one of the rows has a delimiter too many', async () => {
    const opening = row('A1', { description: '"Cabo; 3m' });

    const { result } = await read([TITLES, opening, row('A2', { customer: 'Silva"' }), row('B1')]);

    expect(result).toMatchObject(refused(2));
  });

  it('are refused where a quote of the header is one of them', async () => {
    const { result } = await read([`${TITLES};"Notas`, `${row('A1')};x"`, `${row('A2')};x`]);

    expect(result).toMatchObject(refused(1));
  });

  it('are refused where a text stands before reference and tax number', async () => {
    const titles = 'description;customer_name;Notas;invoice_ref;merchant_nif;quantity;unit_price;tax_code';
    const { result } = await read([
      titles,
      '"Cabo;Ana;x;A1;501964843;1;10.00;IVA_23',
      'Cabo;Rui";x;A2;501964843;1;10.00;IVA_23',
    ]);

    expect(result).toMatchObject(refused(2));
  });

  it('are refused where every row between lacks cells, and so does the last', async () => {
    const { result } = await read([TITLES, 'A1;501964843;"Ana', 'A2;501964843;Rui', 'A3;501964843;Eva";Cabo']);

    expect(result).toMatchObject(refused(2));
  });

  it('are refused where all rows are of one merchant, whom the file does not name', async () => {
    const titles = 'invoice_ref;customer_name;description;quantity;unit_price;tax_code';
    const lines = [titles, 'A1;Ana;"Cabo;1;10.00;IVA_23', 'A2;Rui";Cabo;1;10.00;IVA_23'];
    const constants = { currency: 'EUR', merchant_nif: '501964843' };

    const { result } = await ingestedText(`${lines.join('\n')}\n`, { constants });

    expect(result).toMatchObject({ ok: false, findings: [{ code: 'quote-misplaced', row: 2 }] });
  });

  it('are refused where two cells hold the beginning and the end of a row', async () => {
    const between = row('A2', { customer: 'Rui"', description: '"Cabo' });

    const { result } = await read([
      TITLES,
      row('A1', { customer: '"Ana' }),
      between,
      row('A3', { description: '3m"' }),
    ]);

    expect(result).toMatchObject(refused(2));
  });
});

describe('a text of several lines', () => {
  it('may stand in a row that has too many cells', async () => {
    const text = row('A1', { customer: 'Silva; Lda', description: '"choice of\na; b"' });

    const { invoices } = await read([TITLES, text]);

    expect(invoices).toMatchObject([{ ok: false, findings: [{ code: 'cell-count' }] }]);
  });

  it('may have more delimiters in a line than any row has', async () => {
    const text = '"choice of:\na; b; c; d; e; f; g; h; i; j\nend"';

    const { invoices } = await read([TITLES, row('A1', { description: text }), `${row('A2')};`]);

    expect(invoices).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it('may have as many delimiters in a line as a row that is wrong', async () => {
    const text = '"choice of:\na; b; c; d; e; f; g; h; i; j\nend"';

    const { invoices } = await read([TITLES, row('A1', { description: text }), `${row('A2')};;;too many`]);

    expect(invoices).toMatchObject([{ ok: true }, { ok: false }]);
  });

  it('may stand in the last column, where rows end with many delimiters', async () => {
    const end = ';'.repeat(20);

    const { invoices } = await read([`${TITLES};Notas${end}`, `${row('A1')};"two\nlines"${end}`]);

    expect(invoices).toMatchObject([{ ok: true }]);
  });

  it('may stand in a hundred thousand cells of a row, at no cost', async () => {
    const broken = Array.from({ length: 100_000 }, () => '"\n"').join(';');

    const { invoices } = await read([TITLES, `${row('A1')};${broken}`]);

    expect(invoices).toMatchObject([{ ok: true }]);
  });

  it('is searched at once for rows like one with a reference of half a million characters', async () => {
    const lines = Array.from({ length: 20_000 }, () => 'x1;12345678903;x;x;x;x;x').join('\n');

    const { result } = await read([TITLES, `${'A1'.repeat(200_000)};501964843;Ana;"${lines}";1;10.00;IVA_23`]);

    expect(result).toMatchObject(refused(2));
  });
});
