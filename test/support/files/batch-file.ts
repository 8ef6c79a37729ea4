import { randomUUID } from 'node:crypto';

/** One invoice of a test's file, with one line; what is not given is made up so that no two invoices have equal bytes. */
export interface TestInvoice {
  readonly ref: string;
  readonly nif?: string;
  /** Empty: the file lacks it. */
  readonly legalName?: string;
  readonly email?: string;
  readonly customer?: string;
  readonly customerTaxId?: string;
  readonly quantity?: string;
  readonly unitPrice?: string;
  readonly taxCode?: string;
}

export const MERCHANT_NIF = '501964843';
/** What the sandbox's engine fails, by its documented rule. */
export const FAILING_TAX_CODE = 'IVA_99';

const HEADER =
  'invoice_ref,merchant_nif,merchant_legal_name,merchant_email,customer_name,customer_tax_id,currency,description,quantity,unit_price,tax_code';

/** `count` invoices of one merchant, each with a reference and a customer of its own. */
export function testInvoices(count: number, over: Partial<TestInvoice> = {}, from = 1): readonly TestInvoice[] {
  return Array.from({ length: count }, (_, at) => ({ ref: `F-${from + at}`, ...over }));
}

export function customerOf({ ref, customer }: TestInvoice): string {
  return customer ?? `Cliente Secreto ${ref}`;
}

export function customerTaxIdOf({ ref, customerTaxId }: TestInvoice): string {
  return customerTaxId ?? String(200_000_000 + Number(/\d+$/.exec(ref)?.[0] ?? 0));
}

/** A CSV file of these invoices. */
export function batchFile(invoices: readonly TestInvoice[]): string {
  const rows = invoices.map((invoice) => {
    const nif = invoice.nif ?? MERCHANT_NIF;
    return [
      invoice.ref,
      nif,
      invoice.legalName ?? `Comerciante ${nif}`,
      invoice.email ?? `fiscal@${nif}.example`,
      customerOf(invoice),
      customerTaxIdOf(invoice),
      'EUR',
      `Artigo ${invoice.ref}`,
      invoice.quantity ?? '2',
      invoice.unitPrice ?? '10.25',
      invoice.taxCode ?? 'IVA_23',
    ].join(',');
  });
  return `${[HEADER, ...rows].join('\n')}\n`;
}

/** A name that no other test of the run uses: part of ids, and so never longer than those allow. */
export function ownName(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`;
}
