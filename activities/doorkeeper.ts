import type { Reason } from '../src/domain/invoice.ts';
import type { Ledger } from '../src/domain/ports/ledger.ts';
import type { Waiting } from './merchants.ts';

/** Trouble without a success between that makes it the service's trouble, not an invoice's. */
const TROUBLE_IN_A_ROW = 20;
const FIRST_PROBE_MS = 5_000;
const LONGEST_PROBE_MS = 60_000;

export interface Door {
  /** Null: go on. Otherwise nothing may be sent until the probe. */
  closed(): Promise<Waiting | null>;
  /** True after the probe time has come: send one invoice alone and see. */
  probing(): boolean;
  succeeded(): Promise<void>;
  /** One more answer that is no answer; opens the breaker when there were too many in a row. */
  troubled(reason: Reason): Promise<void>;
  /** The service does not let us in at all: 401, redirect, a run of 403s. Opens the breaker at once. */
  shut(reason: Reason): Promise<void>;
}

interface DoorDeps {
  readonly ledger: Pick<Ledger, 'breaker' | 'openBreaker' | 'closeBreaker'>;
  readonly baseUrl: string;
  readonly now: () => number;
}

/** The circuit breaker of one base address; its state is a row of the ledger, so that every worker sees it. */
export function createDoor({ ledger, baseUrl, now }: DoorDeps): Door {
  let troubles = 0;
  let open = false;
  let openings = 0;

  async function shut(reason: Reason): Promise<void> {
    open = true;
    troubles = 0;
    const wait = Math.min(FIRST_PROBE_MS * 2 ** openings, LONGEST_PROBE_MS);
    openings += 1;
    await ledger.openBreaker({ baseUrl, reason, openedAt: now(), probeAfter: now() + wait });
  }

  return {
    async closed() {
      const record = await ledger.breaker(baseUrl);
      open = record !== null;
      if (record === null || record.probeAfter <= now()) return null;
      return { reason: record.reason.code, probeAfterMs: record.probeAfter - now() };
    },
    probing: () => open,
    async succeeded() {
      troubles = 0;
      openings = 0;
      if (!open) return;
      open = false;
      await ledger.closeBreaker(baseUrl);
    },
    async troubled(reason) {
      troubles += 1;
      if (troubles >= TROUBLE_IN_A_ROW || open) await shut(reason);
    },
    shut,
  };
}
