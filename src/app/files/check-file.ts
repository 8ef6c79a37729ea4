import { invoiceBody } from '../../service/profile/body-template.ts';
import { getHeapStatistics } from 'node:v8';
import { sendingHold } from '../../../activities/batch/sending-hold.ts';
import type { ReadOptions } from '../../../activities/deps.ts';
import type { BatchInput } from '../../domain/messages/messages.ts';
import type { FileCheck } from '../../console/console-options.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import { netOf, sumDecimals } from '../../domain/money.ts';
import type { GroupedInvoice, RawRow } from '../../domain/row.ts';
import type { IngestOptions } from '../../ingest/ingest-result.ts';
import { memoryRowStore, sizeOfRows } from '../../ingest/row-stores.ts';
import { toInvoices } from '../../ingest/invoice/to-invoice.ts';
import { readWithProfile } from './read-with-profile.ts';
import type { OutcomeCount } from '../../domain/records/batch-record.ts';

/** The result of a dry run, which sends nothing and writes nothing. */
export interface CheckedFile extends FileCheck {
  readonly file: string;
  /** Net totals by currency of all invoices with a readable amount, to compare with the source's own totals. */
  readonly net: Readonly<Record<string, string>>;
  readonly withoutAmount: number;
  /** The invoices of `firstBodies`, in the same order. */
  readonly firstInvoices: readonly {
    readonly ref: string;
    readonly merchantNif: string;
    readonly rows: readonly number[];
  }[];
  /**
   * Why Lote would send nothing although it could read the file: control totals differ, or there are bad rows with
   * on-invalid "hold".
   */
  readonly gate: string | null;
}

/** Options of a dry run: how the file is read, and which control totals must hold. */
export type CheckOptions = ReadOptions &
  Pick<BatchInput, 'expectInvoices' | 'expectNet' | 'onInvalid'> & {
    /** How the service profile writes an invoice; if omitted, as published. */
    readonly bodyTemplate?: unknown;
    /** A mapping to try instead of a profile. */
    readonly mapping?: IngestOptions;
  };

/** So many bodies are enough to compare with the ERP, and few enough to read. */
const BODIES_SHOWN = 3;
const FINDINGS_KEPT = 1_000;
const MERCHANT_PLACEHOLDER = 'mrc_to_be_looked_up';

/** @throws LoteError `file-unreadable`; `usage`, also when its rows need too much memory */
export async function checkFile(path: string, inputDir: string, options: CheckOptions): Promise<CheckedFile> {
  const store = memoryRowStore(boundedRows());
  const { expectInvoices: _, expectNet: __, onInvalid: ___, bodyTemplate = null, mapping, ...reading } = options;
  const read = await readWithProfile({ path, file: path, inputDir, store, options: reading, mapping });
  const base = { file: path, sha256: read.sha256, proof: read.proof, rows: read.rows };
  const sum = summaryOf(read.findings, bodyTemplate);
  if (!read.ok) return { ...base, rowsWithoutInvoice: 0, rowsLost: 0, ...sum.result(), refused: true, gate: null };
  for await (const group of store.groups()) {
    for (const invoice of toInvoices(group, read.conversion)) sum.add(invoice);
  }
  const { rowsWithoutInvoice, rowsLost } = read;
  const hold = await sendingHold({ countOutcomes: () => Promise.resolve(sum.outcomes()) }, options, {
    batchId: path,
    invoices: sum.counts.invoices,
    rowsWithoutInvoice,
    fileFindings: read.findings,
  });
  return { ...base, rowsWithoutInvoice, rowsLost, ...sum.result(), refused: false, gate: hold?.message ?? null };
}

/** Sums the invoices of a file up. */
function summaryOf(fileFindings: readonly Finding[], bodyTemplate: unknown) {
  const findings = [...fileFindings];
  const firstBodies: string[] = [];
  const firstInvoices: CheckedFile['firstInvoices'][number][] = [];
  const nets = { net: new Map<string, string>(), netOfValid: new Map<string, string>() };
  const counts = { invoices: 0, invalid: 0, withoutAmount: 0 };
  return {
    counts,
    add(grouped: GroupedInvoice): void {
      counts.invoices += 1;
      if (findings.length < FINDINGS_KEPT) findings.push(...grouped.findings);
      if (!grouped.ok) {
        counts.invalid += 1;
        if (grouped.currency === null || grouped.net === null) counts.withoutAmount += 1;
        else addTo(nets.net, grouped.currency, grouped.net);
        return;
      }
      const { invoice, rows } = grouped;
      const net = netOf(invoice.lines);
      for (const sums of [nets.net, nets.netOfValid]) addTo(sums, invoice.currency, net);
      if (firstBodies.length >= BODIES_SHOWN) return;
      firstBodies.push(invoiceBody(invoice, MERCHANT_PLACEHOLDER, bodyTemplate));
      firstInvoices.push({ ref: invoice.ref, merchantNif: invoice.merchant.nif, rows });
    },
    outcomes(): readonly OutcomeCount[] {
      const { invalid: invoices, withoutAmount } = counts;
      const none = { outcome: 'staged', invoices: 0, withoutAmount: 0 } as const;
      const all = [...nets.net].map(([currency, net]): OutcomeCount => ({ ...none, currency, net }));
      return [...all, { outcome: 'invalid', currency: null, invoices, net: '0', withoutAmount }];
    },
    result() {
      const { invoices, invalid, withoutAmount } = counts;
      const [net, netOfValid] = [Object.fromEntries(nets.net), Object.fromEntries(nets.netOfValid)];
      return { invoices, invalid, net, netOfValid, withoutAmount, findings, firstBodies, firstInvoices };
    },
  };
}

function addTo(nets: Map<string, string>, currency: string, net: string): void {
  nets.set(currency, sumDecimals([nets.get(currency) ?? '0', net]));
}

const BYTES_OF_A_MB = 1024 * 1024;

/**
 * Counts the rows of a dry run before they are stored, because a workbook of kilobytes can repeat one long text in a
 * million cells. The rows may take half of Node's limit for all objects of this process.
 * @throws LoteError `usage`
 */
function boundedRows(): (rows: readonly RawRow[]) => void {
  const most = getHeapStatistics().heap_size_limit / 2;
  let bytes = 0;
  return (rows) => {
    bytes += sizeOfRows(rows);
    if (bytes <= most) return;
    throw new LoteError(
      'usage',
      `Checking a file: a check keeps its rows in memory, in at most ${Math.floor(most / BYTES_OF_A_MB)} MB, found more up to row ${rows.at(-1)?.row}. Nothing of it was checked, and nothing was sent. ` +
        'Split the file, or give the process more memory (NODE_OPTIONS=--max-old-space-size=MEGABYTES). `lote run FILE` needs no such memory.',
    );
  };
}
