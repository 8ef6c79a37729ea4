import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** One invoice of a test file, with one line. Omitted values are made up so that no two invoices have equal bytes. */
export interface TestInvoice {
  readonly ref: string;
  readonly nif?: string;
  /** Empty if the file lacks the legal name. */
  readonly legalName?: string;
  readonly email?: string;
  readonly customer?: string;
  readonly customerTaxId?: string;
  readonly quantity?: string;
  readonly unitPrice?: string;
  readonly taxCode?: string;
}

export const MERCHANT_NIF = '501964843';
/** The tax code that the sandbox's engine fails, by its documented rule. */
export const FAILING_TAX_CODE = 'IVA_99';

const HEADER =
  'invoice_ref,merchant_nif,merchant_legal_name,merchant_email,customer_name,customer_tax_id,currency,description,quantity,unit_price,tax_code';

/** Makes `count` invoices of one merchant, each with its own reference and customer. */
export function testInvoices(count: number, over: Partial<TestInvoice> = {}, from = 1): readonly TestInvoice[] {
  return Array.from({ length: count }, (_, at) => ({ ref: `F-${from + at}`, ...over }));
}

export function customerOf({ ref, customer }: TestInvoice): string {
  return customer ?? `Cliente Secreto ${ref}`;
}

export function customerTaxIdOf({ ref, customerTaxId }: TestInvoice): string {
  return customerTaxId ?? String(200_000_000 + Number(/\d+$/.exec(ref)?.[0] ?? 0));
}

/** Returns these invoices as a CSV file. */
export function batchFile(invoices: readonly TestInvoice[]): string {
  return `${[HEADER, ...invoices.map((invoice) => rowOf(invoice))].join('\n')}\n`;
}

function rowOf(invoice: TestInvoice, description = `Artigo ${invoice.ref}`): string {
  const { nif = MERCHANT_NIF, quantity = '2', unitPrice = '10.25', taxCode = 'IVA_23' } = invoice;
  const { ref, legalName = `Comerciante ${nif}`, email = `fiscal@${nif}.example` } = invoice;
  const customer = [customerOf(invoice), customerTaxIdOf(invoice)];
  return [ref, nif, legalName, email, ...customer, 'EUR', description, quantity, unitPrice, taxCode].join(',');
}

/** Returns a name that no other test of the run uses. The name is part of ids, so it must stay short. */
export function ownName(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`;
}

const MERCHANTS = ['501964843', '502773154', '511882408'];

export interface InvoiceFile {
  readonly invoices: number;
  /** Default 1. Files without a common ordinal have no common invoice. */
  readonly firstOrdinal?: number;
  /** Lines of each invoice, default 1. The first lines of all invoices come first, then the second lines, and so on. */
  readonly linesEach?: number;
  /** Ordinals (from 1) that the simulated engine fails. */
  readonly failing?: readonly number[];
  /** Ordinals (from 1) whose quantity is not a number. */
  readonly invalid?: readonly number[];
  /** Default `F`. Two files of different series have no common invoice. */
  readonly series?: string;
  /** Tax numbers of the merchants. Default: three that all tests share. */
  readonly merchants?: readonly string[];
}

function rowText(
  { firstOrdinal = 1, failing = [], invalid = [], series = 'F', merchants = MERCHANTS, linesEach = 1 }: InvoiceFile,
  { at, line }: { readonly at: number; readonly line: number },
): string {
  const ordinal = firstOrdinal + at;
  const ref = `${series}/${ordinal}`;
  const nif = merchants[at % merchants.length] ?? '';
  const quantity = invalid.includes(ordinal) ? 'muitos' : String(line + (at % 7));
  const taxCode = failing.includes(ordinal) ? FAILING_TAX_CODE : 'IVA_23';
  // Each invoice has different content, so that the sandbox's books would show an invoice sent twice.
  const invoice = {
    ref,
    nif,
    customer: `Cliente Secreto ${ordinal}`,
    quantity,
    unitPrice: `${10 + (at % 90)}.25`,
    taxCode,
  };
  return linesEach === 1 ? rowOf(invoice) : rowOf(invoice, `Artigo ${ref} linha ${line}`);
}

export async function writeInvoiceFile(path: string, file: InvoiceFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const { invoices, linesEach = 1 } = file;
  const rows = Array.from({ length: linesEach * invoices }, (_, at) =>
    rowText(file, { at: at % invoices, line: 1 + Math.floor(at / invoices) }),
  );
  await writeFile(path, `${[HEADER, ...rows].join('\n')}\n`);
}
