import { OLDER_LEDGER } from '../../src/domain/retry-decision.ts';
import { isAhead } from '../../src/domain/time/instants.ts';
import type { ActivityDeps } from '../deps.ts';
import { restricted } from './sending-permission.ts';
import type { DeparturePermit } from '../../src/domain/records/service-answers.ts';
import type { SendableInvoice } from '../../src/ledger/sending/sending.ts';
import type { SendOutcome } from '../../src/ledger/sending/record-answers.ts';

/**
 * The retention window of idempotency keys; times are epoch milliseconds. After the window the service may have forgotten a key and the same POST
 * would issue a second invoice, so Lote never repeats it by itself. `since` is when a POST may have reached the service, or null if none has.
 */
export class RetentionWindow {
  readonly #retentionMs: number;
  readonly #now: () => number;

  constructor({ settings, latestNow }: Pick<ActivityDeps, 'settings' | 'latestNow'>) {
    this.#retentionMs = settings.retry.retentionMs;
    this.#now = latestNow;
  }

  /** Returns whether the window of `since` is over, right before each POST. A time in the future counts as over, because the real time is unknown. */
  isOver(since: number | null): boolean {
    return since !== null && (isAhead(since, this.#now()) || this.#now() - since >= this.#retentionMs);
  }

  /** Restricts a permit to the open window. */
  permit(since: number | null, permit: DeparturePermit): DeparturePermit {
    return restricted(permit, () => !this.isOver(since));
  }

  outcomeOf(since: number | null): SendOutcome & { readonly kind: 'unknown' } {
    const hours = Math.round((this.#retentionMs / 3_600_000) * 100) / 100;
    const isUnknown = since !== null && isAhead(since, this.#now());
    const when = isUnknown
      ? 'A clock that ran ahead wrote down when its first POST left'
      : `Its first POST left more than ${hours} h ago`;
    const message = `${when}, and the service may have forgotten its key: sent again, it could be issued twice. Ask the service, or accept the risk: lote retry BATCH --ref REFERENCE --accept-duplicate-risk --reason WHY.`;
    return { kind: 'unknown', reason: { code: 'retention-window-over', message } };
  }
}

/**
 * Ends invoices that are too old before a slice freezes or sends any, in one write. Also holds invoices that were sent
 * after the backup from which the ledger was restored, if they must not go with their present key.
 */
export async function withinRetention(
  deps: ActivityDeps,
  batchId: string,
  found: readonly SendableInvoice[],
): Promise<readonly SendableInvoice[]> {
  const window = new RetentionWindow(deps);
  const now = deps.now();
  const otherKey = found.filter(({ lost }) => lost === 'other-key');
  const old = found.filter(({ lost, mayExistSince }) => lost !== 'other-key' && window.isOver(mayExistSince));
  const forgotten = old.filter(({ lost }) => lost === 'same-key');
  // A key of an earlier generation is judged when its turn comes, because a `staged` invoice cannot become `unknown`.
  const late = old.filter(({ lost, earlier }) => lost !== 'same-key' && earlier === null);
  if (otherKey.length > 0) await deps.ledger.holdLost(batchId, idsOf(otherKey), { now });
  if (forgotten.length > 0) {
    const reason = { ...window.outcomeOf(forgotten[0]?.mayExistSince ?? null).reason, code: OLDER_LEDGER };
    await deps.ledger.holdLost(batchId, idsOf(forgotten), { reason, now });
  }
  if (late.length > 0)
    await deps.ledger.recordSends(
      late.map(({ invoiceId, generation, mayExistSince }) => {
        return { invoiceId, generation, attempts: 0, sentAt: now, outcome: window.outcomeOf(mayExistSince) };
      }),
    );
  const gone = new Set(idsOf([...otherKey, ...forgotten, ...late]));
  return found.filter(({ invoiceId }) => !gone.has(invoiceId));
}

function idsOf(invoices: readonly SendableInvoice[]): readonly number[] {
  return invoices.map(({ invoiceId }) => invoiceId);
}
