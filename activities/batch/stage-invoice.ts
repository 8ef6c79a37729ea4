import { fingerprintOf, idempotencyKeyOf } from '../../src/domain/fingerprint.ts';
import { netOf } from '../../src/domain/money.ts';
import type { StageInvoice } from '../../src/domain/ports/ledger/batch-ledger.ts';
import type { GroupedInvoice } from '../../src/domain/row.ts';

/** An invoice of a file, as the ledger stages it; `ordinal` counts the invoices of the file from 1. */
export function stageInvoice(application: string, ordinal: number, grouped: GroupedInvoice): StageInvoice {
  if (grouped.ok) return stageValid(application, ordinal, grouped);
  const { ref, nif, currency, net, rows, findings } = grouped;
  return { kind: 'invalid', ordinal, ref, merchantNif: nif, currency, net, rows, findings };
}

/** The same of a valid one: with its fingerprint, its first key and its net, which its content gives. */
export function stageValid(
  application: string,
  ordinal: number,
  { invoice, rows, findings }: Omit<Extract<GroupedInvoice, { ok: true }>, 'ok'>,
): Extract<StageInvoice, { kind: 'valid' }> {
  const fingerprint = fingerprintOf(invoice);
  const identity = { application, merchantNif: invoice.merchant.nif, ref: invoice.ref };
  return {
    kind: 'valid',
    ordinal,
    invoice,
    fingerprint,
    idempotencyKey: idempotencyKeyOf(identity, fingerprint, 1),
    net: netOf(invoice.lines),
    rows,
    findings,
  };
}
