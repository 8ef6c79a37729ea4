import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Invoice, InvoiceLine } from '../../../src/domain/invoice.ts';
import { fingerprintOf, idempotencyKeyOf, merchantKeyOf } from '../../../src/domain/fingerprint.ts';

const LINE: InvoiceLine = { description: 'Café', quantity: '2', unitPrice: '10.5', taxCode: 'IVA_23' };
const OTHER_LINE: InvoiceLine = { description: 'Chá', quantity: '1', unitPrice: '3', taxCode: 'IVA_6' };

const INVOICE: Invoice = {
  ref: 'FT 2026/1',
  merchant: { nif: '501964843', legalName: 'Loja, Lda', email: 'loja@example.pt' },
  customer: { name: 'Ana', taxId: '123456789' },
  currency: 'EUR',
  lines: [LINE, OTHER_LINE],
};

const IDENTITY = { application: 'default', merchantNif: '501964843', ref: 'FT 2026/1' };

describe('fingerprintOf', () => {
  it('is the same for ever: an installed ledger is compared with it after every upgrade', () => {
    expect(fingerprintOf(INVOICE)).toBe('7646b67070621a0b324296387c189156670653dc707385fbdf2b09f553ff53e6');
    expect(idempotencyKeyOf(IDENTITY, 'f'.repeat(64), 1)).toBe(
      'lote_fe073b0310ed02bc362710582c3603679b7dbaee6a68d372f6aabb9d859185ff',
    );
    expect(merchantKeyOf('default', '501964843')).toBe(
      'lote_412474a6ecac07cf18afba14007b8c6ee92078a13dc9a4e31482c0df61cc3cc4',
    );
  });

  it('does not see the order of the lines: a sorted spreadsheet is the same invoices', () => {
    const line = fc.record({
      description: fc.string(),
      quantity: fc.constantFrom('1', '2'),
      unitPrice: fc.constantFrom('3', '4.5'),
      taxCode: fc.constantFrom('IVA_6', 'IVA_23'),
    });
    const lists = fc.array(line, { minLength: 1, maxLength: 6 });
    const shuffled = lists.chain((lines) =>
      fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length })),
    );

    fc.assert(
      fc.property(shuffled, ([lines, turned]) => {
        expect(fingerprintOf({ ...INVOICE, lines: turned })).toBe(fingerprintOf({ ...INVOICE, lines }));
      }),
    );
  });

  it("does not see the merchant's name and address, which a corrected file may bring", () => {
    const merchant = { nif: INVOICE.merchant.nif, legalName: null, email: null };

    expect(fingerprintOf({ ...INVOICE, merchant })).toBe(fingerprintOf(INVOICE));
  });

  it('takes a missing and an empty tax number of the customer for one: both are sent as none', () => {
    const without = { ...INVOICE, customer: { name: 'Ana', taxId: null } };

    expect(fingerprintOf({ ...INVOICE, customer: { name: 'Ana', taxId: '' } })).toBe(fingerprintOf(without));
    expect(fingerprintOf(without)).not.toBe(fingerprintOf(INVOICE));
  });

  it.each<[string, Invoice]>([
    ['reference', { ...INVOICE, ref: 'FT 2026/2' }],
    ['merchant', { ...INVOICE, merchant: { ...INVOICE.merchant, nif: '502757191' } }],
    ['customer', { ...INVOICE, customer: { ...INVOICE.customer, name: 'Ana ' } }],
    ["customer's tax number", { ...INVOICE, customer: { ...INVOICE.customer, taxId: '123456780' } }],
    ['currency', { ...INVOICE, currency: 'USD' }],
    ['description', { ...INVOICE, lines: [{ ...LINE, description: 'Cafe' }, OTHER_LINE] }],
    ['quantity', { ...INVOICE, lines: [{ ...LINE, quantity: '20' }, OTHER_LINE] }],
    ['price', { ...INVOICE, lines: [{ ...LINE, unitPrice: '10.51' }, OTHER_LINE] }],
    ['tax code', { ...INVOICE, lines: [{ ...LINE, taxCode: 'IVA_13' }, OTHER_LINE] }],
    ['number of lines', { ...INVOICE, lines: [LINE] }],
    ['number of equal lines', { ...INVOICE, lines: [LINE, LINE, OTHER_LINE] }],
    ['order of quantity and price', { ...INVOICE, lines: [{ ...LINE, quantity: '10.5', unitPrice: '2' }, OTHER_LINE] }],
  ])('is another one for another %s', (_, other) => {
    expect(fingerprintOf(other)).not.toBe(fingerprintOf(INVOICE));
  });

  it('keeps neighbouring fields apart: no text can move from one into the next', () => {
    const glued = fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(glued, ([a, b]) => {
        const one = { ...INVOICE, customer: { name: a + b, taxId: 'x' } };
        const two = { ...INVOICE, customer: { name: a, taxId: `${b}x` } };

        expect(fingerprintOf(one)).not.toBe(fingerprintOf(two));
      }),
    );
  });
});

describe('idempotencyKeyOf', () => {
  it('is printable, shorter than 255 characters, and shows nothing of the identity', () => {
    const key = idempotencyKeyOf({ ...IDENTITY, ref: 'x'.repeat(5_000) }, fingerprintOf(INVOICE), 1);

    expect(key).toMatch(/^lote_[0-9a-f]{64}$/);
    expect(key).not.toContain(IDENTITY.merchantNif);
  });

  it('changes with each part of the identity, the content and the generation', () => {
    const fingerprint = fingerprintOf(INVOICE);
    const keys = [
      idempotencyKeyOf(IDENTITY, fingerprint, 1),
      idempotencyKeyOf(IDENTITY, fingerprint, 2),
      idempotencyKeyOf(IDENTITY, fingerprint, 12),
      idempotencyKeyOf(IDENTITY, fingerprint.replace(/^./, 'z'), 1),
      idempotencyKeyOf({ ...IDENTITY, application: 'other' }, fingerprint, 1),
      idempotencyKeyOf({ ...IDENTITY, merchantNif: '1' }, fingerprint, 1),
      idempotencyKeyOf({ ...IDENTITY, ref: 'other' }, fingerprint, 1),
    ];

    expect(new Set(keys).size).toBe(keys.length);
    expect(idempotencyKeyOf({ ...IDENTITY }, fingerprint, 1)).toBe(keys[0]);
  });

  it('does not confuse parts that run together', () => {
    const a = idempotencyKeyOf({ application: 'a', merchantNif: '12', ref: '3' }, 'f', 1);

    expect(idempotencyKeyOf({ application: 'a', merchantNif: '1', ref: '23' }, 'f', 1)).not.toBe(a);
    expect(idempotencyKeyOf({ application: 'a1', merchantNif: '2', ref: '3' }, 'f', 1)).not.toBe(a);
  });
});

describe('merchantKeyOf', () => {
  it('is one for each merchant of each application', () => {
    const keys = [merchantKeyOf('a', '1'), merchantKeyOf('a', '2'), merchantKeyOf('b', '1'), merchantKeyOf('a1', '')];

    expect(new Set(keys).size).toBe(4);
    expect(keys[0]).toMatch(/^lote_[0-9a-f]{64}$/);
    expect(merchantKeyOf('a', '1')).toBe(keys[0]);
  });
});
