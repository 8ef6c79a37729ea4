import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { confirmedOptions, type MappingOptions } from '../support/files/confirmed-layout.ts';
import { ingestedAsIs, removeTemporaryFiles, temporaryFile } from '../unit/ingest/ingested.ts';

afterAll(removeTemporaryFiles);

/** Headers of exports in Portuguese, Spanish, English and French, written down by hand. */
const HEADERS = {
  invoice_ref: ['Doc. Nº', 'Documento', 'Nº Fra.', 'Número de factura', 'Invoice No.', 'Order', 'N° facture', 'Ref.'],
  merchant_nif: ['NIF emitente', 'NIF', 'NIF emisor', 'Seller NIF', 'SIREN vendeur', 'Contribuinte'],
  customer_name: ['Cliente', 'Nome', 'Razón social cliente', 'Company', 'Customer', 'Nom du client'],
  currency: ['Moeda', 'Divisa', 'Currency', 'Devise'],
  description: ['Designação', 'Artigo', 'Concepto', 'Item', 'Product name', 'Désignation'],
  quantity: ['Qtd.', 'Unidades', 'Qty', 'Quantité'],
  unit_price: ['P. Unit.', 'Preço', 'Precio', 'Unit Cost', 'Selling Price', 'Prix unitaire HT'],
  tax_code: ['IVA', '% IVA', 'Impuesto', 'VAT', 'Code TVA'],
} as const;
type Mapped = keyof typeof HEADERS;
const COLUMNS = Object.keys(HEADERS) as Mapped[];

/** Columns that are not sent, many of which resemble one that is. */
const EXTRA = [
  ...'Referencia|Fatura|Código|Item number|Dto1|% Dto. 2|Rappel|Abatimento|Portes|Retenção|Price|Vendedor'.split('|'),
  ...'Buyer|Quantidade|Taxa IVA|Total|Estado|Remise %|NIF cliente|'.split('|'),
];

const anExport = fc.record({
  headers: fc.tuple(...COLUMNS.map((column) => fc.constantFrom(...HEADERS[column]))),
  extra: fc.uniqueArray(fc.constantFrom(...EXTRA), { maxLength: 5 }),
  order: fc.array(fc.nat(), { minLength: 14, maxLength: 14 }),
  kind: fc.boolean(),
  delimiter: fc.constantFrom(';', '\t', '|'),
  mark: fc.constantFrom(',', '.'),
  rows: fc.array(
    fc.record({
      customer: fc.constantFrom('Café Central Lda', '1023', 'Ana'),
      description: fc.constantFrom('Café', 'A001', 'Pão'),
      quantity: fc.integer({ min: 1, max: 40 }),
      cents: fc.integer({ min: 1, max: 99_999 }),
      isSkipped: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  ),
});

type Export = typeof anExport extends fc.Arbitrary<infer Value> ? Value : never;

/** The table of an export; each row is an invoice. */
function written({ headers, extra, order, kind, mark, rows, delimiter }: Export, more?: string): string {
  const columns = [
    ...headers.map((header, at) => ({ header, column: COLUMNS[at] })),
    ...extra.map((header) => ({ header, column: undefined })),
    ...(kind ? [{ header: 'Tipo', column: 'kind' as const }] : []),
  ].map((one, at) => ({ ...one, key: order[at] ?? 0 }));
  // A column without a name stands before others, so that it is one.
  const sorted = columns.toSorted((a, b) => Number(a.header !== '') - Number(b.header !== '') || a.key - b.key);
  const cellOf = (row: Export['rows'][number], at: number, column: (typeof sorted)[number]['column']): string => {
    const price = `${Math.floor(row.cents / 100)}${mark}${String(row.cents % 100).padStart(2, '0')}`;
    const cells = {
      ...{ invoice_ref: `F/${at}`, merchant_nif: '501964843', customer_name: row.customer, currency: 'EUR' },
      ...{ description: row.description, quantity: String(row.quantity), unit_price: price, tax_code: 'IVA_23' },
      kind: row.isSkipped ? 'NC' : 'FT',
    };
    return column === undefined ? `x${at}` : cells[column];
  };
  const tail = more === undefined ? [] : [more];
  return [
    [...sorted.map(({ header }) => header), ...tail],
    ...rows.map((row, at) => [...sorted.map(({ column }) => cellOf(row, at, column)), ...tail.map(() => '5')]),
  ]
    .map((cells) => `${cells.join(delimiter)}\n`)
    .join('');
}

/** What a person says of it: every column, whatever was proposed. */
function answer({ headers, extra, kind }: Export): MappingOptions {
  const none = extra.filter((header) => header !== '').map((header) => ['none', header] as const);
  return {
    column: [...none, ...headers.map((header, at) => [COLUMNS[at] ?? '', header] as const)],
    ...(kind ? { skip: [['Tipo', 'NC']], invoices: [['Tipo', 'FT']] } : {}),
  };
}

function sentOf({ rows, kind }: Export): readonly unknown[] {
  return rows.flatMap(({ customer, description, quantity, cents, isSkipped }, at) =>
    kind && isSkipped
      ? []
      : [
          {
            ref: `F/${at}`,
            merchant: { nif: '501964843', legalName: null, email: null },
            customer: { name: customer, taxId: null },
            currency: 'EUR',
            lines: [{ description, quantity: String(quantity), unitPrice: String(cents / 100), taxCode: 'IVA_23' }],
          },
        ],
  );
}

describe('an export with foreign headers', () => {
  it('sends what its mapping confirms and nothing else, and asks for each unconfirmed column', async () => {
    await fc.assert(
      fc.asyncProperty(anExport, async (one) => {
        const path = temporaryFile(written(one));
        const first = await ingestedAsIs(path);
        expect(first.result).toMatchObject({ ok: false });
        expect(['layout-unconfirmed', 'header-missing', 'delimiter-ambiguous']).toContain(
          first.result.findings[0]?.code,
        );

        const sent = sentOf(one);
        const saved = await confirmedOptions(path, answer(one), { delimiter: one.delimiter });
        if (sent.length === 0) {
          expect(saved).toBeNull();
          return;
        }
        const { invoices, result } = await ingestedAsIs(path, saved ?? {});
        expect(invoices.map((invoice) => (invoice.ok ? invoice.invoice : invoice.findings))).toEqual(sent);
        expect(result.findings.reduce((sum, { rows = 0 }) => sum + rows, 0)).toBe(one.rows.length - sent.length);

        const more = await ingestedAsIs(temporaryFile(written(one, 'Desconto')), saved ?? {});
        expect(more.result).toMatchObject({ ok: false, findings: [{ code: 'layout-unconfirmed' }] });
        const [gone, ...kept] = one.extra.filter((header) => header !== '');
        if (gone === undefined) return;
        const unnamed = one.extra.filter((header) => header === '');
        const less = await ingestedAsIs(temporaryFile(written({ ...one, extra: [...kept, ...unnamed] })), saved ?? {});
        expect(less.result).toMatchObject({ ok: false, findings: [{ code: 'layout-unconfirmed' }] });
      }),
      { numRuns: 300 },
    );
  }, 300_000);
});
