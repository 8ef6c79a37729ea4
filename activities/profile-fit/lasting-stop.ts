import { WITHOUT_PROBE } from '../../src/domain/circuit-reasons.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { BreakerLedger } from '../../src/domain/ports/ledger/breaker-ledger.ts';
import type { AnswerWatch } from './answer-watch.ts';

/** A service that is sent to, and a stop of it that this process has found. */
export interface StoppableService {
  /** The breaker of the ledger for this address says what other processes have found. */
  readonly baseUrl: string;
  readonly watch: Pick<AnswerWatch, 'stoppedHere'>;
}

/**
 * Why nothing may be sent to the service until a process starts with a corrected profile: what this process has found, or what the ledger says at this
 * moment; null: nothing. A stop that passes is for the circuit breaker, which lets a probe through.
 */
export async function lastingStop(
  ledger: Pick<BreakerLedger, 'breaker'>,
  { baseUrl, watch }: StoppableService,
): Promise<Reason | null> {
  const here = watch.stoppedHere();
  if (here !== null) return here;
  const reason = (await ledger.breaker(baseUrl))?.reason;
  return reason !== undefined && WITHOUT_PROBE.has(reason.code) ? reason : null;
}
