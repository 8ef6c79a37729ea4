import fc from 'fast-check';
import type { Invoice, InvoiceLine } from '../../src/domain/invoice.ts';

/** Letters that every encoding of the property has, cp850 too; no byte pair of theirs is UTF-8 by accident. */
const WORDS =
  'Ana|João|Conceição|Peña|Íñigo|Café|Pão de forma|Águas & Sabões|Serviço|crème brûlée|Größe|SERVIÇOS|1 kg|195/65 R15|2x4'.split(
    '|',
  );
/** What breaks readers: delimiters, quotes, line ends, formula signs, names of JavaScript. */
const SIGNS = [...Array.from(',;|\t" \n\r-@#{[\\'), "'", '""', '\r\n', '=1+1', '__proto__'];

/** Trimmed, since outer white space does not come back. A text that is only digits or a formula is as good as any. */
const text = fc
  .array(
    fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...WORDS) }, { weight: 1, arbitrary: fc.constantFrom(...SIGNS) }),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join('').trim())
  .filter((made) => /[\p{L}\p{N}]/u.test(made));

const reference = fc.oneof(
  fc.integer({ min: 1, max: 99_999 }).map((number) => `FT 2026/${number}`),
  fc.integer({ min: 1, max: 99_999 }).map((number) => `A-${number}`),
  fc.integer({ min: 1, max: 99_999 }).map(String),
  text.map((made) => `Nº ${made}`),
);

/** Canonical by construction, so that what is expected never passed the code under test. */
const decimal: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 0, max: 12 }).map(BigInt),
      fc.integer({ min: 100, max: 99_999 }).map(BigInt),
      fc.bigInt({ min: 0n, max: 10n ** 24n }),
    ),
    fc.oneof(fc.constant(''), fc.constantFrom('5', '25', '234', '001', '123456'), fc.stringMatching(/^\d{0,4}[1-9]$/)),
    fc.integer({ min: 0, max: 9 }),
  )
  .map(([whole, fraction, sign]) => {
    const made = fraction === '' ? String(whole) : `${whole}.${fraction}`;
    return sign === 0 && made !== '0' ? `-${made}` : made;
  });

const line: fc.Arbitrary<InvoiceLine> = fc.record({
  description: text,
  quantity: decimal,
  unitPrice: decimal,
  taxCode: fc.constantFrom('IVA_6', 'IVA_13', 'IVA_23'),
});

const invoice: fc.Arbitrary<Invoice> = fc.record({
  ref: reference,
  merchant: fc.record({
    nif: fc.constantFrom('501964843', '502773154', '511882408'),
    legalName: fc.option(text),
    email: fc.option(fc.constantFrom('a@b.example', 'faturas@padaria.example')),
  }),
  customer: fc.record({ name: text, taxId: fc.option(fc.constantFrom('210484276', 'ES-B12345678', 'PT 210 484 276')) }),
  currency: fc.constantFrom('EUR', 'EUR', 'USD', 'GBP'),
  lines: fc.uniqueArray(line, { minLength: 1, maxLength: 3, selector: ({ description }) => description }),
});

/** Invoices of different identities; no two lines of one are the same. */
export const invoiceTable: fc.Arbitrary<readonly Invoice[]> = fc.uniqueArray(invoice, {
  minLength: 1,
  maxLength: 5,
  selector: identityOf,
});

export function identityOf({ ref, merchant }: Pick<Invoice, 'ref' | 'merchant'>): string {
  return JSON.stringify([merchant.nif, ref]);
}
