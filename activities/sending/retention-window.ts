import { commandLine } from '../../src/domain/text/command-line.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { DeparturePermit } from '../../src/domain/ports/invoicing-service.ts';
import { isAhead } from '../../src/domain/time/is-ahead.ts';
import type { SendableInvoice, SendOutcome } from '../../src/domain/ports/ledger/sending-ledger.ts';
import type { ActivityDeps } from '../deps.ts';

/** Timers of Node count no further; a POST that waits for weeks is stopped by its activity's time-out. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * After the retention window the service may have forgotten a key, and the same POST would issue a second invoice: Lote never sends such a
 * one again by itself. One whose tries all provably failed to arrive is not concerned: its next POST is the first.
 */
export interface RetentionWindow {
  /** Asked right before each POST. `since`: when one may have reached the service; null: none has. A time that has not come yet is over: nobody knows it. */
  isOver(since: number | null): boolean;
  /** Aborted when it ends: a POST may wait in the client for its permit, and nothing bounds that wait. */
  signal(since: number | null): AbortSignal | undefined;
  /** The same permit for as long as the window is open: a timer of a process that stood still rings too late, and this is asked in the moment before the first byte. */
  permit(since: number | null, permit: DeparturePermit): DeparturePermit;
  outcomeOf(since: number | null): SendOutcome & { readonly kind: 'unknown' };
}

/** The retention window of idempotency keys, as the settings have it; times are epoch milliseconds. */
export function retentionWindow(
  deps: Pick<ActivityDeps, 'settings' | 'latestNow' | 'application' | 'isOneOfSeveral'>,
): RetentionWindow {
  const { settings, latestNow } = deps;
  const { retentionMs } = settings.retry;
  const hours = Math.round((retentionMs / 3_600_000) * 100) / 100;
  const retry = commandLine(deps, 'retry BATCH --ref REFERENCE --accept-duplicate-risk --reason WHY');
  const reasonWhen = (when: string): Reason => ({
    code: 'retention-window-over',
    message: `${when}, and the service may have forgotten its key: sent again, it could be issued twice. Ask the service, or accept the risk: ${retry}.`,
  });
  const isUnknown = (since: number | null): boolean => since !== null && isAhead(since, latestNow(since));
  const isOver = (since: number | null): boolean =>
    isUnknown(since) || (since !== null && latestNow(since) - since >= retentionMs);
  const whenOf = (since: number | null): string => {
    if (isUnknown(since)) return 'A clock that ran ahead wrote down when its first POST left';
    const long = `Its first POST left more than ${hours} h ago`;
    const isByService = since !== null && latestNow() - since < retentionMs;
    return isByService ? `${long} by the service's clock, which is ahead of this machine's` : long;
  };
  return {
    isOver,
    permit: (since, permit) =>
      since === null
        ? permit
        : {
            withdrawn: permit.withdrawn,
            isValid: () => !isOver(since) && permit.isValid(),
            confirm: async () => !isOver(since) && (await permit.confirm()) && !isOver(since),
          },
    signal: (since) =>
      since === null
        ? undefined
        : AbortSignal.timeout(
            isOver(since) ? 0 : Math.min(Math.ceil(since + retentionMs - latestNow(since)), LONGEST_TIMER_MS),
          ),
    outcomeOf: (since) => ({
      kind: 'unknown',
      reason: reasonWhen(whenOf(since)),
    }),
  };
}

/** Ends what is too old before anything of a slice is frozen or sent, in one write. */
export async function withinRetention(
  deps: ActivityDeps,
  sendable: readonly SendableInvoice[],
): Promise<readonly SendableInvoice[]> {
  const { isOver, outcomeOf } = retentionWindow(deps);
  const late = sendable.filter(({ mayExistSince }) => isOver(mayExistSince));
  if (late.length === 0) return sendable;
  const sentAt = deps.now();
  await deps.ledger.recordSends(
    late.map(({ invoiceId, generation, mayExistSince }) => ({
      ...{ invoiceId, generation, attempts: 0, sentAt },
      outcome: outcomeOf(mayExistSince),
    })),
  );
  const gone = new Set(late.map(({ invoiceId }) => invoiceId));
  return sendable.filter(({ invoiceId }) => !gone.has(invoiceId));
}
