import { sharedAnswer } from '../../concurrency/shared-answer.ts';
import type { HealthCheck } from '../../console/console-options.ts';
import { DELIVERIES_UNPROVEN } from '../../domain/profile-misfit.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Check } from '../doctor/check.ts';
import { inBrief } from '../doctor/in-brief.ts';
import { answerWithin } from '../temporal/answer-within.ts';

/** Whoever looks at the health page wants to know now. */
const PATIENCE_MS = 8_000;
/** Somebody who loads the page again and again asks the service no more often. */
const FRESH_MS = 10_000;
const LOOK_BACK_MS = 7 * 24 * 60 * 60 * 1_000;
/** The console says by itself whether its ledger answers. */
const OF_THE_CONSOLE = new Set(['ledger']);

/** What the health page is made of. `now` is epoch milliseconds. */
export interface HealthParts {
  readonly ledger: Pick<Ledger, 'breaker' | 'lastDelivery' | 'misfits'>;
  readonly profileDigest: string;
  /** Null: this process does not know the service. */
  readonly serviceBaseUrl: string | null;
  /** What `lote doctor` finds; it answers within seconds. */
  readonly examined: () => Promise<readonly Check[]>;
  readonly now: () => number;
}

/** What the console cannot see itself: what `lote doctor` finds, and what the ledger tells of running work. */
export function createHealthChecks(parts: HealthParts): () => Promise<readonly HealthCheck[]> {
  const examined = createExaminedChecks(parts);
  return async () => {
    const checks = await Promise.all([
      examined(),
      within('sending', sending(parts)),
      within('last webhook', lastWebhook(parts)),
      within('service profile', serviceProfile(parts)),
    ]);
    return checks.flat();
  };
}

/** What `lote doctor` finds, as the health page shows it. */
export function createExaminedChecks(
  parts: Pick<HealthParts, 'examined' | 'now'>,
): () => Promise<readonly HealthCheck[]> {
  const examined = freshFor(FRESH_MS, parts);
  return async () => within('lote doctor', examined());
}

/** Whoever asks while an answer is fresh gets it. */
function freshFor(
  freshMs: number,
  { examined, now }: Pick<HealthParts, 'examined' | 'now'>,
): () => Promise<readonly HealthCheck[]> {
  let answer: readonly HealthCheck[] = [];
  let askedAt = Number.NEGATIVE_INFINITY;
  const ask = sharedAnswer(async () => {
    const at = now();
    answer = inBrief((await examined()).filter(({ name }) => !OF_THE_CONSOLE.has(name))).map(shown);
    askedAt = at;
    return answer;
  });
  return async () => (now() - askedAt < freshMs ? answer : ask());
}

function shown({ name, state, detail, cure }: Check): HealthCheck {
  return { name, state, detail: cure === null ? detail : `${detail} ${cure}` };
}

async function within(name: string, check: Promise<readonly HealthCheck[]>): Promise<readonly HealthCheck[]> {
  const found = await answerWithin(
    PATIENCE_MS,
    check.catch(() => null),
  );
  return found ?? [{ name, state: 'trouble', detail: `It did not answer within ${PATIENCE_MS / 1_000} s.` }];
}

/** The circuit breaker: whether anything is sent at the moment. */
async function sending({ ledger, serviceBaseUrl }: HealthParts): Promise<readonly HealthCheck[]> {
  if (serviceBaseUrl === null) return [];
  const breaker = await ledger.breaker(serviceBaseUrl);
  return breaker === null
    ? [{ name: 'sending', state: 'ok', detail: `the circuit breaker to ${serviceBaseUrl} is closed` }]
    : [
        {
          name: 'sending',
          state: 'trouble',
          detail: `Sending is stopped since ${new Date(breaker.openedAt).toISOString()}: ${breaker.reason.message}`,
        },
      ];
}

/** A doubt is no trouble: anybody may send what does not fit. */
async function serviceProfile({ ledger, profileDigest }: HealthParts): Promise<readonly HealthCheck[]> {
  const name = 'service profile';
  const found = await ledger.misfits(profileDigest);
  if (found.length === 0) return [{ name, state: 'ok', detail: 'nothing was found that does not fit' }];
  return found.map(({ code, message, times, lastAt }) => ({
    name,
    state: code === DELIVERIES_UNPROVEN ? 'unknown' : 'trouble',
    detail: `${message} (${code}, noted ${times === 1 ? 'once' : `${times} times`})`,
    at: lastAt,
  }));
}

/** When the last delivery came, of whatever application. */
export async function lastWebhook({
  ledger,
  now,
}: {
  readonly ledger: Pick<Ledger, 'lastDelivery'>;
  readonly now: () => number;
}): Promise<readonly HealthCheck[]> {
  const last = await ledger.lastDelivery(now() - LOOK_BACK_MS);
  return last === null
    ? [
        {
          name: 'last webhook',
          state: 'unknown',
          detail: 'none in the last 7 days; Lote polls (GET) pending invoices',
        },
      ]
    : [{ name: 'last webhook', state: 'ok', detail: '', at: last }];
}
