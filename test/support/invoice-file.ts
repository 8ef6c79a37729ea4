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

function invoiceFileText({
  invoices,
  firstOrdinal = 1,
  failing = [],
  invalid = [],
  series = 'F',
  merchants = MERCHANTS,
}: InvoiceFile): string {
  const rows = Array.from({ length: invoices }, (_, at) => {
    const ordinal = firstOrdinal + at;
    const nif = merchants[at % merchants.length] ?? '';
    const quantity = invalid.includes(ordinal) ? 'muitos' : String(1 + (at % 7));
    const tax = failing.includes(ordinal) ? FAILING_TAX_CODE : 'IVA_23';
    return `${series}/${ordinal},${nif},Comerciante ${nif},fiscal@${nif}.example,${customerOf(ordinal)},${customerTaxIdOf(ordinal)},EUR,Artigo ${series}${ordinal},${quantity},${10 + (at % 90)}.25,${tax}`;
  });
  return `${[HEADER, ...rows].join('\n')}\n`;
}

export async function writeInvoiceFile(path: string, file: InvoiceFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, invoiceFileText(file));
}
