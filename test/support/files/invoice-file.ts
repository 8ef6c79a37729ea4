import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const HEADER =
  'invoice_ref,merchant_nif,merchant_legal_name,merchant_email,customer_name,customer_tax_id,currency,description,quantity,unit_price,tax_code';
const MERCHANTS = ['501964843', '502773154', '511882408'];
/** What the sandbox's engine fails, by its documented rule. */
const FAILING_TAX_CODE = 'IVA_99';

export interface InvoiceFile {
  readonly invoices: number;
  /** Default 1; files that share no ordinal share no invoice. */
  readonly firstOrdinal?: number;
  /** Lines of each invoice, default 1: the first lines of all invoices, then their second lines, and so on. */
  readonly linesEach?: number;
  /** Ordinals (from 1) that the simulated engine fails. */
  readonly failing?: readonly number[];
  /** Ordinals (from 1) whose quantity is no number. */
  readonly invalid?: readonly number[];
  /** Two files of different series share no invoice. Default `F`. */
  readonly series?: string;
  /** Tax numbers of those who invoice; default: three that every test shares. */
  readonly merchants?: readonly string[];
}

/** Content of its own in each invoice, so that the sandbox's books would show one sent twice. */
function customerOf(ordinal: number): string {
  return `Cliente Secreto ${ordinal}`;
}

function customerTaxIdOf(ordinal: number): string {
  return String(200_000_000 + ordinal);
}

function invoiceFileText(file: InvoiceFile): string {
  const { invoices, linesEach = 1 } = file;
  const rows = Array.from({ length: linesEach * invoices }, (_, at) =>
    rowText(file, { at: at % invoices, line: 1 + Math.floor(at / invoices) }),
  );
  return `${[HEADER, ...rows].join('\n')}\n`;
}

function rowText(
  { firstOrdinal = 1, failing = [], invalid = [], series = 'F', merchants = MERCHANTS, linesEach = 1 }: InvoiceFile,
  { at, line }: { readonly at: number; readonly line: number },
): string {
  const ordinal = firstOrdinal + at;
  const ref = `${series}/${ordinal}`;
  const nif = merchants[at % merchants.length] ?? '';
  const description = linesEach === 1 ? `Artigo ${ref}` : `Artigo ${ref} linha ${line}`;
  const quantity = invalid.includes(ordinal) ? 'muitos' : String(line + (at % 7));
  const tax = failing.includes(ordinal) ? FAILING_TAX_CODE : 'IVA_23';
  const merchant = `${nif},Comerciante ${nif},fiscal@${nif}.example`;
  return `${ref},${merchant},${customerOf(ordinal)},${customerTaxIdOf(ordinal)},EUR,${description},${quantity},${10 + (at % 90)}.25,${tax}`;
}

export async function writeInvoiceFile(path: string, file: InvoiceFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, invoiceFileText(file));
}
