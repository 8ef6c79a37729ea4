import type { SendableInvoice } from '../src/domain/ports/ledger.ts';
import type { ActivityDeps } from './deps.ts';

/**
 * After the retention window the service may have forgotten a key, and the same POST would issue a second invoice: Lote never sends such a
 * one again by itself. One whose tries all provably failed to arrive is not concerned: its next POST is the first.
 */
export async function withinRetention(
  deps: ActivityDeps,
  sendable: readonly SendableInvoice[],
): Promise<readonly SendableInvoice[]> {
  const now = deps.now();
  const { retentionMs } = deps.settings.retry;
  const late = sendable.filter(({ mayExistSince }) => mayExistSince !== null && now - mayExistSince >= retentionMs);
  if (late.length === 0) return sendable;
  const hours = Math.round((retentionMs / 3_600_000) * 100) / 100;
  const reason = {
    code: 'retention-window-over',
    message: `Its first POST left more than ${hours} h ago, and the service may have forgotten its key: sent again, it could be issued twice. Ask the service, or accept the risk: lote retry BATCH --ref REFERENCE --accept-duplicate-risk.`,
  };
  await deps.ledger.recordSends(
    late.map(({ invoiceId, generation }) => ({
      invoiceId,
      generation,
      attempts: 0,
      sentAt: now,
      outcome: { kind: 'unknown', reason },
    })),
  );
  const gone = new Set(late.map(({ invoiceId }) => invoiceId));
  return sendable.filter(({ invoiceId }) => !gone.has(invoiceId));
}
