import { sharedAnswer } from '../../platform/concurrency.ts';
import type { HealthCheck } from '../../console/console-options.ts';
import { isOpen, misfitsOf } from '../../domain/calibration.ts';
import type { Check } from '../../health/doctor/check.ts';
import { answerWithin } from '../temporal/calls.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** A person on the health page wants the current state soon. */
const PATIENCE_MS = 8_000;
/** Reloading the page does not query the service more often than this. */
const FRESH_MS = 10_000;
const LOOK_BACK_MS = 7 * 24 * 60 * 60 * 1_000;
/** The console reports by itself whether its ledger answers. */
const OF_THE_CONSOLE = new Set(['ledger']);

/** Parts of the health page. `now` is in epoch milliseconds. */
export interface HealthParts {
  readonly ledger: Pick<Ledger, 'breaker' | 'lastDelivery' | 'calibration'>;
  readonly profileDigest: string;
  /** Null if this process does not know the service. */
  readonly serviceBaseUrl: string | null;
  /** The checks of `lote doctor`, which answer within seconds. */
  readonly examined: () => Promise<readonly Check[]>;
  readonly now: () => number;
}

/** Checks that the console cannot do itself: those of `lote doctor`, and the ledger's records of running work. */
export function createHealthChecks(parts: HealthParts): () => Promise<readonly HealthCheck[]> {
  const examined = freshFor(FRESH_MS, parts);
  return async () => {
    const checks = await Promise.all([
      within('lote doctor', examined()),
      within('sending', sending(parts)),
      within('last webhook', lastWebhook(parts)),
      within('service profile', serviceProfile(parts)),
    ]);
    return checks.flat();
  };
}

/** Returns the checks of `lote doctor`, and runs them again when the last answer is older than `freshMs`. */
function freshFor(freshMs: number, { examined, now }: HealthParts): () => Promise<readonly HealthCheck[]> {
  let answer: readonly HealthCheck[] = [];
  let askedAt = Number.NEGATIVE_INFINITY;
  const ask = sharedAnswer(async () => {
    const at = now();
    answer = (await examined()).filter(({ name }) => !OF_THE_CONSOLE.has(name)).map(shown);
    askedAt = at;
    return answer;
  });
  return async () => (now() - askedAt < freshMs ? answer : ask());
}

function shown({ name, state, detail, cure }: Check): HealthCheck {
  return { name, state, detail: cure === null ? detail : `${detail} ${cure}` };
}

async function within(name: string, check: Promise<readonly HealthCheck[]>): Promise<readonly HealthCheck[]> {
  const answer = check.catch(() => null);
  const found = await answerWithin(PATIENCE_MS, answer);
  return found ?? [{ name, state: 'trouble', detail: `It did not answer within ${PATIENCE_MS / 1_000} s.` }];
}

/** The circuit breaker, which shows whether Lote sends now. */
async function sending({ ledger, serviceBaseUrl }: HealthParts): Promise<readonly HealthCheck[]> {
  if (serviceBaseUrl === null) return [];
  const breaker = await ledger.breaker(serviceBaseUrl);
  if (breaker === null)
    return [{ name: 'sending', state: 'ok', detail: `the circuit breaker to ${serviceBaseUrl} is closed` }];
  const since = new Date(breaker.openedAt).toISOString();
  const detail = `Sending is stopped since ${since}: ${breaker.reason.message}`;
  return [{ name: 'sending', state: 'trouble', detail }];
}

/** The calibration, which shows whether the profile is proved to fit the service. */
async function serviceProfile({ ledger, profileDigest }: HealthParts): Promise<readonly HealthCheck[]> {
  const name = 'service profile';
  const known = await ledger.calibration(profileDigest);
  const found = misfitsOf(known).map(({ code, message, lastAt }) => {
    return { name, state: 'trouble' as const, detail: `${message} (${code})`, at: lastAt };
  });
  if (found.length > 0) return found;
  return isOpen(known)
    ? [{ name, state: 'ok', detail: 'an event and a GET have agreed, or an operator has confirmed the profile' }]
    : [{ name, state: 'unknown', detail: `not proved yet: ${known.out.length} of at most 20 invoices are out` }];
}

/** When the last delivery came, for any application. */
async function lastWebhook({ ledger, now }: HealthParts): Promise<readonly HealthCheck[]> {
  const name = 'last webhook';
  const last = await ledger.lastDelivery(now() - LOOK_BACK_MS);
  if (last !== null) return [{ name, state: 'ok', detail: '', at: last }];
  return [{ name, state: 'unknown', detail: 'none in the last 7 days; Lote polls (GET) pending invoices' }];
}
