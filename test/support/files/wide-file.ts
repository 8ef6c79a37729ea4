import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const HEADER =
  'invoice_ref,merchant_nif,merchant_legal_name,merchant_email,customer_name,customer_tax_id,currency,description,quantity,unit_price,tax_code';
const NIF = '501964843';

/** Invoices of many lines each, interleaved: the first line of every invoice, then the second of every invoice, so that a part of the file cuts them all. */
export async function writeWideFile(
  path: string,
  { invoices, lines, series }: { readonly invoices: number; readonly lines: number; readonly series: string },
): Promise<void> {
  const rows = Array.from({ length: invoices * lines }, (_, at) => {
    const invoice = (at % invoices) + 1;
    const line = Math.floor(at / invoices) + 1;
    return `${series}/${invoice},${NIF},Comerciante,fiscal@example.pt,Cliente ${series}${invoice},${200_000_000 + invoice},EUR,Linha ${line},1,10.25,IVA_23`;
  });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${[HEADER, ...rows].join('\n')}\n`);
}
