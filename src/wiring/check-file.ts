import { netOf, sumDecimals } from '../domain/money.ts';
import type { Finding, Invoice } from '../domain/invoice.ts';
import { memoryRowStore } from '../ingest/memory-row-store.ts';
import { readFile } from '../ingest/read-file.ts';
import { toInvoice } from '../ingest/to-invoice.ts';
import { invoiceBody } from '../service/invoice-body.ts';
import type { ReadOptions } from '../../activities/deps.ts';

/** What a dry run found; nothing left the machine, nothing was written. */
export interface CheckedFile {
  readonly file: string;
  readonly refused: boolean;
  readonly sha256: string;
  readonly proof: Readonly<Record<string, unknown>>;
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly invoices: number;
  readonly invalid: number;
  readonly net: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  /** Bytes of the first invoices, as they would be sent; the merchant's id is not known before. */
  readonly firstBodies: readonly string[];
}

/** Enough to compare with the ERP, few enough to read. */
const BODIES_SHOWN = 3;
const FINDINGS_KEPT = 1_000;
const MERCHANT_PLACEHOLDER = 'mrc_to_be_looked_up';

export async function checkFile(path: string, options: ReadOptions): Promise<CheckedFile> {
  const store = memoryRowStore();
  const read = await readFile({ path, store, options });
  const base = { file: path, sha256: read.sha256, proof: read.proof, rows: read.rows };
  if (!read.ok) {
    return {
      ...base,
      refused: true,
      rowsWithoutInvoice: 0,
      invoices: 0,
      invalid: 0,
      net: {},
      findings: read.findings,
      firstBodies: [],
    };
  }
  const findings: Finding[] = [...read.findings];
  const firstBodies: string[] = [];
  const nets = new Map<string, string>();
  let invoices = 0;
  let invalid = 0;
  for await (const group of store.groups()) {
    invoices += 1;
    const grouped = toInvoice(group, read.conversion);
    if (findings.length < FINDINGS_KEPT) findings.push(...grouped.findings);
    if (!grouped.ok) {
      invalid += 1;
      continue;
    }
    addNet(nets, grouped.invoice);
    if (firstBodies.length < BODIES_SHOWN) firstBodies.push(invoiceBody(grouped.invoice, MERCHANT_PLACEHOLDER));
  }
  return {
    ...base,
    refused: false,
    rowsWithoutInvoice: read.rowsWithoutInvoice,
    invoices,
    invalid,
    net: Object.fromEntries(nets),
    findings,
    firstBodies,
  };
}

function addNet(nets: Map<string, string>, invoice: Invoice): void {
  nets.set(invoice.currency, sumDecimals([nets.get(invoice.currency) ?? '0', netOf(invoice.lines)]));
}
