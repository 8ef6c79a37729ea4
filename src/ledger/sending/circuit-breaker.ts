import { LONGEST_PROBE_MS } from '../../domain/time/longest-probe.ts';
import { isAhead } from '../../domain/time/is-ahead.ts';
import type { Database } from '../database/database.ts';
import { changeFact, findFact } from '../database/facts.ts';
import type { Reason } from '../../domain/invoice.ts';

interface BreakerRecord {
  readonly baseUrl: string;
  readonly reason: Reason;
  readonly openedAt: number;
  readonly probeAfter: number;
}

/** An open breaker as it stands. */
export interface OpenBreaker extends BreakerRecord {
  /** Until then one caller probes; null: no caller does, or the probe has failed. */
  readonly probingUntil: number | null;
}

/** Neither a probe nor its turn is as far away as that: a clock that ran ahead wrote such a time. */
function hasCome(at: number, now: number): boolean {
  return at <= now || isAhead(at, now + LONGEST_PROBE_MS);
}

/** The circuit breaker of each base address, shared by all processes of the ledger. No value means closed. */
export function createBreaker(database: Database) {
  const keyOf = (baseUrl: string): string => `breaker ${baseUrl}`;
  /** Resolves to whether the breaker has changed. */
  const change = (baseUrl: string, next: (open: OpenBreaker | null) => OpenBreaker | null): Promise<boolean> =>
    changeFact<OpenBreaker, boolean>(database, keyOf(baseUrl), (open) => {
      const then = next(open);
      return [then, then !== open];
    });

  return {
    breaker: async (baseUrl: string): Promise<OpenBreaker | null> =>
      (await findFact<OpenBreaker>(database, keyOf(baseUrl))).value,

    /** An open breaker keeps the time since which it is open. */
    async openBreaker({ baseUrl, openedAt, ...opened }: BreakerRecord): Promise<void> {
      await change(baseUrl, (open) => {
        const since = Math.min(open?.openedAt ?? openedAt, openedAt);
        return { baseUrl, ...opened, openedAt: since, probingUntil: null };
      });
    },

    /** After a success. */
    async closeBreaker(baseUrl: string): Promise<void> {
      await change(baseUrl, () => null);
    },

    /** True for exactly one caller once `probeAfter` has come: it may send one request, and all others wait until `until`. */
    claimProbe: (baseUrl: string, { now, until }: Turn): Promise<boolean> =>
      change(baseUrl, (open) => {
        if (open === null || !hasCome(open.probeAfter, now)) return open;
        return hasCome(open.probingUntil ?? now, now) ? { ...open, probingUntil: until } : open;
      }),

    /** Ends the turn that lasts until `until`: the next caller may probe from `now` on. A closed breaker, and the turn of another caller, stay. */
    async giveBackProbe(baseUrl: string, { now, until }: Turn): Promise<void> {
      await change(baseUrl, (open) =>
        open?.probingUntil === until ? { ...open, probeAfter: now, probingUntil: null } : open,
      );
    },
  };
}

/** What a process knows of the circuit breakers. */
export type BreakerLedger = ReturnType<typeof createBreaker>;

interface Turn {
  readonly now: number;
  readonly until: number;
}
