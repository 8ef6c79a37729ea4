import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { MappingOptions } from '../../../src/cli/session/mapping-options.ts';
import { confirmedOptions } from '../../support/files/confirmed-layout.ts';
import { ingestedAsIs, removeTemporaryFiles, type Ingested } from './ingested.ts';

afterAll(removeTemporaryFiles);

const FOLDER = fileURLToPath(new URL('../../golden/cases/', import.meta.url));

/** By name, the files of which a reader may take one header for another. */
const FILES = new Map(
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^F[2-5]-.*\//u.test(path))
    .map((path) => [basename(path), FOLDER + path]),
);

/** What an accountant says of the columns, and what then goes out; null: the file only asks, and its answer lies outside it. */
type Answer = (MappingOptions & { readonly sent: readonly string[] }) | null;

/** All of them ask first: none may be read by what a header resembles. */
const CASES: Readonly<Record<string, Answer>> = {
  'b1-ref-of-article.csv': {
    column: [['invoice_ref', 'Doc. Nº']],
    sent: ['FT 2026/101: 2*12.5 5*2.4', 'FT 2026/102: 1*12.75'],
  },
  'b12-fatura-type.csv': { column: [['invoice_ref', 'Nº']], sent: ['101: 1*12.5', '102: 1*2.4'] },
  'b18-po-reference.csv': {
    column: [['invoice_ref', 'Invoice nr.']],
    sent: ['26001: 1*12.5', '26002: 1*2.4', '26003: 1*0.95'],
  },
  'b2-documento-serie-numero.csv': {
    column: [
      ['reference-part', 'Documento'],
      ['reference-part', 'Série'],
      ['reference-part', 'Número'],
    ],
    sent: ['FT-2026-101: 1*12.5', 'FT-2026-102: 1*2.4', 'FT-2026-103: 1*0.95'],
  },
  'b20-no-fra.csv': { column: [['invoice_ref', 'Nº Fra.']], sent: ['A/1: 1*12.5', 'A/2: 3*12.5'] },
  'b23-odoo-es.csv': {
    column: [['invoice_ref', 'Número']],
    skip: [['Estado', 'Cancelado']],
    sent: ['FAC/2026/00017: 1*12.5'],
  },
  'b4-referencia-de-producto.csv': {
    column: [['invoice_ref', 'Albarán']],
    sent: ['FT 2026/101: 2*12.5 5*2.4', 'FT 2026/102: 1*12.75'],
  },
  'b5-order-reference.csv': {
    column: [['invoice_ref', 'Order']],
    sent: ['FT 2026/101: 2*12.5 5*2.4', 'FT 2026/102: 1*12.75'],
  },
  'b10-vendedor.csv': { column: [['none', 'Vendedor']], sent: ['FT 1: 1*12.5', 'FT 2: 1*2.4'] },
  'b3-nif-of-customer.csv': {
    column: [['customer_tax_id', 'NIF']],
    constant: [['merchant_nif', '507112237']],
    sent: ['FT 1: 1*12.5', 'FT 2: 1*12.5'],
  },
  'b6-unit-cost.csv': { column: [['unit_price', 'Selling Price']], sent: ['T/1: 1*10.5', 'T/2: 1*10.5'] },
  'b7-cliente-code-nome.csv': {
    column: [['customer_name', 'Nome']],
    sent: ['FT 1 to Café Central Lda: 1*12.5 Café', 'FT 2 to Talho Sul Lda: 1*2.4'],
  },
  'b7c-customer-id.csv': { column: [['customer_name', 'Company']], sent: ['INV-1 to Central Ltd: 1*12.5'] },
  'b8-item-number.csv': {
    column: [['description', 'Product name']],
    sent: ['INV-1: 1*12.5 Coffee beans 1 kg 2*2.4 Bread'],
  },
  'b9-artigo-code.csv': { column: [['description', 'Nome do artigo']], sent: ['FT 1: 1*12.5 Café em grão'] },
  'c-erpnext-docstatus.csv': { skip: [['docstatus', '2,0']], sent: ['C/1: 1*10.5'] },
  'c-proforma.csv': { skip: [['Document type', 'Pro forma,Quote']], sent: ['C/1: 1*10.5'] },
  'c-saft-type.csv': { skip: [['InvoiceType', 'NC,ND']], sent: ['C/1: 1*10.5'] },
  'c-shipping.csv': null,
  'c1-tipo-nc.csv': { skip: [['Tipo', 'NC']], sent: ['T/1: 1*10.5', 'T/3: 1*10.5'] },
  'c1b-move-type.csv': { skip: [['move_type', 'out_refund']], sent: ['T/1: 1*10.5', 'T/3: 1*10.5'] },
  'c1c-is-return.csv': { skip: [['is_return', '1']], sent: ['T/1: 1*10.5', 'T/3: 1*10.5'] },
  'c2-estado.csv': { skip: [['Estado', 'Anulada,Rascunho']], sent: ['T/1: 1*10.5'] },
  'c3-type.json': { skip: [['type', 'credit_note']], sent: ['T/1: 1*10.5', 'T/3: 1*10.5'] },
  'c4-retencao.csv': null,
  'c5-tax-included.csv': { skip: [['Preço inclui IVA', 'Sim']], sent: ['T/1: 1*10.5', 'T/3: 1*10.5'] },
  'd2-dto1-dto2.csv': null,
  'd3-allowances.json': null,
  'discount-columns.csv': null,
};

/** As each expectation says it: reference, buyer where it names one, and lines. */
function sentLike(expected: readonly string[], { invoices }: Ingested): readonly string[] {
  return invoices.flatMap((one, at) => {
    if (!one.ok) return [];
    const { ref, customer, lines } = one.invoice;
    const buyer = expected[at]?.includes(' to ') === true ? ` to ${customer.name}` : '';
    const words = lines.map(({ quantity, unitPrice, description }) => {
      const text = expected[at]?.includes(description) === true ? ` ${description}` : '';
      return `${quantity}*${unitPrice}${text}`;
    });
    return [`${ref}${buyer}: ${words.join(' ')}`];
  });
}

describe('a file that was read by what its headers resemble', () => {
  it.each(Object.keys(CASES))('%s asks, and sends what a person has confirmed', async (name) => {
    const path = FILES.get(name) ?? expect.fail(`no file ${name}`);
    const first = await ingestedAsIs(path);

    expect(first.result).toMatchObject({ ok: false, findings: [{ code: 'layout-unconfirmed' }] });
    const answer = CASES[name] ?? null;
    if (answer === null) return;
    const { sent, ...options } = answer;
    const saved = await confirmedOptions(path, options);
    expect(saved).not.toBeNull();
    const read = await ingestedAsIs(path, saved ?? {});
    expect(sentLike(sent, read)).toEqual(sent);
    const skipped = read.result.findings.reduce((sum, { rows = 0 }) => sum + rows, 0);
    const inInvoices = read.invoices.reduce((sum, { rows }) => sum + rows.length, 0);
    expect(inInvoices + skipped).toBe(read.result.rows);
  });

  it('is in the table above, each of them', () => {
    expect(Object.keys(CASES).toSorted()).toEqual([...FILES.keys()].toSorted());
  });
});
