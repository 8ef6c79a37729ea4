import { setMaxListeners } from 'node:events';
import type { DeparturePermit } from '../../src/domain/ports/invoicing-service.ts';
import type { ActivityDeps } from '../deps.ts';
import { lastingStop } from '../profile-fit/lasting-stop.ts';

/** Longer than any group of invoices that are taken together may take: a repeat older than this is one that a crash ended. */
export const STALE_REPEAT_MS = 10 * 60_000;

/**
 * A repeat leaves only while nobody else may take its invoice, with room for the exchange itself and for clocks that
 * differ.
 */
const LEAVES_WITHIN_MS = STALE_REPEAT_MS - 2 * 60_000;

/** The permits of one pass that repeats unknown invoices. */
export interface RepeatPermits {
  /** Whether the pass goes on: neither is its attempt over, nor is the service stopped for good. Asked before each repeat. */
  goesOn(): Promise<boolean>;
  /** Whether the profile was found wrong, which stops the service for good (`lastingStop`): nothing more of the pass leaves. */
  isStopped(): boolean;
  /** Of what was taken at that time, by the clock that the ledger was given: after STALE_REPEAT_MS of it others take the invoice, or an operator gives it a new key. */
  ofTake(takenAt: number): DeparturePermit;
}

/** Makes the permits of one pass. What waits for its turn gives up when the worker stops (`over`), or the service is stopped. */
export function repeatPermits(
  { now, watch, ledger, service: { baseUrl } }: Pick<ActivityDeps, 'now' | 'watch' | 'ledger' | 'service'>,
  over: AbortSignal,
): RepeatPermits {
  const stop = new AbortController();
  const withdrawn = AbortSignal.any([over, stop.signal]);
  // Each POST that waits listens to it.
  setMaxListeners(0, withdrawn);
  const isOpen = (): boolean => {
    if (watch.stoppedHere() !== null) stop.abort();
    return !withdrawn.aborted;
  };
  async function goesOn(): Promise<boolean> {
    if (isOpen() && (await lastingStop(ledger, { baseUrl, watch })) !== null) stop.abort();
    return isOpen();
  }
  return {
    goesOn,
    isStopped: () => stop.signal.aborted,
    ofTake(takenAt) {
      const isValid = (): boolean => isOpen() && now() - takenAt < LEAVES_WITHIN_MS;
      return { withdrawn, isValid, confirm: async () => (await goesOn()) && isValid() };
    },
  };
}
