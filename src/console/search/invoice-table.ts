import type { FoundInvoice } from '../../domain/ports/invoice-search.ts';
import type { BatchInvoice } from '../../domain/ports/ledger/batch-record.ts';
import { isoTime } from '../../domain/time/iso-time.ts';
import type { Table } from '../http/table-files.ts';

const HEAD = ['invoice_ref', 'merchant_nif', 'state', 'net', 'currency', 'service_id', 'rows', 'attempts'];
const TIMES = ['sent_at', 'settled_at'];
const REASON = ['reason_code', 'reason_message'];
/** Contradictions seen; last, so that no column moves. */
const FLAGS = ['flags'];

/** Invoices of one batch as a table of words of the ledger; times in UTC. */
export function invoiceTable(invoices: readonly BatchInvoice[]): Table {
  return [[...HEAD, ...TIMES, ...REASON, ...FLAGS], ...invoices.map(cellsOf)];
}

/** The same of several batches, each line with its file and batch, and with its application where there are several. */
export function foundTable(found: readonly FoundInvoice[], several: boolean): Table {
  const head = [
    ...(several ? ['application'] : []),
    'file',
    'batch',
    'read_at',
    ...HEAD,
    ...TIMES,
    ...REASON,
    ...FLAGS,
  ];
  return [
    head,
    ...found.map((one) => [
      ...(several ? [one.application] : []),
      ...[one.file, one.batchId, isoTime(one.readAt)],
      ...cellsOf(one),
    ]),
  ];
}

function cellsOf(invoice: BatchInvoice): Table[number] {
  const { ref, merchantNif, state, net, currency, serviceId, rows, attempts, sentAt, settledAt, reason, flags } =
    invoice;
  return [
    ...[ref, merchantNif, state],
    net === null ? '' : { decimal: net },
    ...[currency ?? '', serviceId ?? '', rows.join(' ')],
    { decimal: String(attempts) },
    ...[isoTime(sentAt) ?? '', isoTime(settledAt) ?? '', reason?.code ?? '', reason?.message ?? ''],
    flags.join(' '),
  ];
}
