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
  return await ingestedText(`${lines.join('\n')}\n`, OPTIONS);
}

const refused = (line: number) => ({
  ok: false,
  findings: [{ code: 'quote-misplaced', row: line, severity: 'error' }],
});

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

describe('a text of several lines', () => {
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
});
