import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import type { Invoice } from '../../../src/domain/invoice.ts';
import { COLUMNS } from '../../../src/domain/row.ts';
import type { Column } from '../../../src/domain/row.ts';
import { ingestedText } from './ingested.ts';

interface Written {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly encoding: string;
  readonly mark: '.' | ',';
  readonly grouping: string;
}

/** Letters of windows-1252 as words have them, with signs that need quoting; trimmed, since outer white space does not come back. */
const text = fc
  .array(fc.constantFrom('a', 'Z', 'ãe', ' É', 'ño', ' € ', ' ', ',', ';', '"', '\t', '|', '\n', '-', '=', "'", '0'), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => `x${parts.join('')}y`);
const digits = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.integer({ min: 1, max: 99 }))
  .map(([whole, cents]) => `${whole}.${String(cents).padStart(2, '0')}`.replace(/0$/, ''));
const line = fc.record({
  description: text,
  quantity: digits,
  unitPrice: digits,
  taxCode: fc.constantFrom('IVA_6', 'IVA_13', 'IVA_23'),
});
const invoices = fc.uniqueArray(
  fc.record({
    ref: text,
    merchant: fc.record({
      nif: fc.constantFrom('501964843', '500000000'),
      legalName: fc.option(text),
      email: fc.option(text),
    }),
    customer: fc.record({ name: text, taxId: fc.option(fc.constant('210484276')) }),
    currency: fc.constantFrom('EUR', 'USD'),
    lines: fc.uniqueArray(line, { minLength: 1, maxLength: 3, selector: ({ description }) => description }),
  }),
  { minLength: 1, maxLength: 5, selector: ({ ref, merchant }) => merchant.nif + ref },
);
const written: fc.Arbitrary<Written> = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    encoding: fc.constantFrom('utf8', 'utf8-bom', 'utf16le', 'utf16be', 'windows-1252'),
    mark: fc.constantFrom('.' as const, ',' as const),
    grouping: fc.constantFrom('', ' ', '\u00a0', "'", 'other'),
  })
  .map((style) => ({
    ...style,
    grouping: style.grouping === 'other' ? (style.mark === '.' ? ',' : '.') : style.grouping,
  }));

function number(value: string, { mark, grouping }: Written): string {
  const [whole = '', fraction = ''] = value.split('.');
  return whole.replace(/\B(?=(?:\d{3})+$)/g, grouping) + mark + fraction;
}

function csv(all: readonly Invoice[], style: Written): Buffer {
  const rows = all.flatMap(({ ref, merchant, customer, currency, lines }) =>
    lines.map((one): Record<Column, string> => ({
      invoice_ref: ref,
      merchant_nif: merchant.nif,
      merchant_legal_name: merchant.legalName ?? '',
      merchant_email: merchant.email ?? '',
      customer_name: customer.name,
      customer_tax_id: customer.taxId ?? '',
      currency,
      description: one.description,
      quantity: number(one.quantity, style),
      unit_price: number(one.unitPrice, style),
      tax_code: one.taxCode,
    })),
  );
  const table = [[...COLUMNS], ...rows.map((row) => COLUMNS.map((column) => row[column]))];
  const content = table
    .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(style.delimiter) + style.lineEnd)
    .join('');
  return style.encoding === 'utf8-bom'
    ? iconv.encode(content, 'utf8', { addBOM: true })
    : iconv.encode(content, style.encoding, { addBOM: style.encoding.startsWith('utf16') });
}

function json(all: readonly Invoice[]): string[] {
  return all.map(({ ref, merchant, customer, currency, lines }) => {
    const body = {
      invoice_ref: ref,
      merchant: { nif: merchant.nif, legal_name: merchant.legalName, email: merchant.email },
      customer: { name: customer.name, tax_id: customer.taxId },
      currency,
    };
    const tokens = lines.map(
      (one) =>
        `{"description":${JSON.stringify(one.description)},"quantity":${one.quantity},"unit_price":${one.unitPrice},"tax_code":"${one.taxCode}"}`,
    );
    return `${JSON.stringify(body).slice(0, -1)},"lines":[${tokens.join(',')}]}`;
  });
}

async function back(content: string | Buffer): Promise<readonly Invoice[]> {
  const read = await ingestedText(content);
  expect(read.result).toMatchObject({ ok: true });
  return read.invoices.map((one) => {
    if (!one.ok) throw new Error(JSON.stringify(one.findings));
    return one.invoice;
  });
}

describe('any table of invoices', () => {
  it('reads back the same from CSV in any dialect, encoding and number convention', async () => {
    await fc.assert(
      fc.asyncProperty(invoices, written, async (all, style) => {
        expect(await back(csv(all, style))).toEqual(all);
      }),
      { numRuns: 300 },
    );
  });

  it('reads back the same from JSON and NDJSON', async () => {
    await fc.assert(
      fc.asyncProperty(invoices, async (all) => {
        const objects = json(all);

        expect(await back(`[${objects.join(',\n')}]`)).toEqual(all);
        expect(await back(`{"invoices":[${objects.join(',')}]}`)).toEqual(all);
        expect(await back(`${objects.join('\n')}\n`)).toEqual(all);
      }),
    );
  });
});
