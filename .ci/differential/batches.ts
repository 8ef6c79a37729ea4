import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADER =
  'invoice_ref,merchant_nif,merchant_legal_name,merchant_email,customer_name,customer_tax_id,currency,description,quantity,unit_price,tax_code';
const CURRENCIES = ['EUR', 'EUR', 'EUR', 'USD', 'BRL'];
const TAX_CODES = ['IVA_23', 'IVA_23', 'IVA_13', 'IVA_6', 'IVA_99'];
/** Cells that make an invoice invalid, each in a column of its own. */
const FAULTS: readonly ((row: string[]) => void)[] = [
  (row) => (row[6] = ''),
  (row) => (row[8] = 'two'),
  (row) => (row[9] = '1.2.3'),
  (row) => (row[4] = ''),
];

/**
 * Writes one seeded file of 20 to 60 invoices with Lote's own column names. Some invoices have several rows, some are
 * invalid, some have a tax code that the sandbox fails. The same seed gives the same bytes.
 */
export function writeSeededFile(directory: string, seed: number): string {
  const random = randomOf(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const rows: string[] = [HEADER];
  const merchants = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => `50${seed + 1000}${index}00`);
  const invoices = 20 + Math.floor(random() * 41);
  for (let invoice = 1; invoice <= invoices; invoice += 1) {
    const nif = pick(merchants);
    const currency = pick(CURRENCIES);
    const taxId = random() < 0.5 ? '' : String(200_000_000 + invoice);
    const lines = 1 + Math.floor(random() * 3);
    for (let line = 1; line <= lines; line += 1) {
      const row = [
        `D${seed}/${String(invoice).padStart(4, '0')}`,
        nif,
        `Merchant ${nif}`,
        `billing@m${nif}.example`,
        `Customer ${invoice}`,
        taxId,
        currency,
        `Item ${line}`,
        String(1 + Math.floor(random() * 9)),
        (random() * 900 + 1).toFixed(2),
        pick(TAX_CODES),
      ];
      if (random() < 0.02) pick(FAULTS)(row);
      rows.push(row.join(','));
    }
  }
  const file = join(directory, `differential-${String(seed).padStart(3, '0')}.csv`);
  writeFileSync(file, `${rows.join('\n')}\n`);
  return file;
}

/** Mulberry32: numbers from 0 to 1 that depend on the seed alone. */
function randomOf(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
