import type { Reason } from '../../src/domain/invoice.ts';
import type { FencingToken } from '../../src/domain/ports/ledger/batch-record.ts';
import type { SendableInvoice } from '../../src/domain/ports/ledger/sending-ledger.ts';
import type { ActivityDeps } from '../deps.ts';

/** Reason of an invoice that was answered with 403. */
export const REFUSED_ACCESS: Reason = { code: 'http-403', message: 'The service answered 403 Forbidden.' };

/** Of an answer that denies access: whether it is a 403, which the client tells apart from 401 by its code. */
export function isForbidden({ code }: Reason): boolean {
  return code === REFUSED_ACCESS.code;
}

const MERCHANT_FORBIDDEN: Reason = {
  code: 'merchant-forbidden',
  message:
    'The service answered 403 Forbidden to invoices of this merchant one after the other, and took others. This one was not sent: ask its support about the merchant, then drop the file again.',
};

/** They are refused by themselves, for others went through. What a lost answer left open stays unknown, whatever comes after it. */
export async function refuseForbidden(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  invoices: readonly SendableInvoice[],
): Promise<void> {
  const sentAt = now();
  await ledger.recordSends(
    invoices.map(({ invoiceId, generation, mayExist }) => ({
      invoiceId,
      generation,
      attempts: 0,
      sentAt,
      outcome: { kind: mayExist ? 'unknown' : 'rejected', reason: REFUSED_ACCESS },
    })),
  );
}

/** Nothing more of these merchants goes out. What a slice leaves of them counts as left: the next round finds it gone. */
export async function holdForbiddenMerchants(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  { batchId, fencingToken }: { readonly batchId: string; readonly fencingToken?: FencingToken },
  merchantNifs: readonly string[],
): Promise<void> {
  for (const merchantNif of merchantNifs) {
    // oxlint-disable-next-line no-await-in-loop
    await ledger.holdUnsent(batchId, { reason: MERCHANT_FORBIDDEN, merchantNif, now: now(), fencingToken });
  }
}
