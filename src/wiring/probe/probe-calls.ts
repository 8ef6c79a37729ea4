import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeResult } from '../../service/exchange-result.ts';
import { documentOf } from '../../service/exchange-result.ts';
import { openConnection } from '../../service/service-connection.ts';
import type { Document } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { ServiceAccount } from '../account/open-service.ts';

/** No probe sends more than this, and four to read the answers back. */
export const MOST_REQUESTS = 100;

const TRIES = 3;
const LONGEST_PAUSE_MS = 10_000;
const SHORTEST_PAUSE_MS = 500;

/** A POST below the base address. */
export interface ProbePost {
  readonly path: string;
  readonly body: string;
  /** Null: a registration, which is never repeated. */
  readonly idempotencyKey: string | null;
}

/** The requests of one probe: to the service alone, with limits of size, time and number. */
export interface ProbeCalls {
  readonly baseUrl: string;
  /** Requests sent. */
  sent(): number;
  get(path: string): Promise<ExchangeResult>;
  /** The answer that came in the end; null: none. A lost answer is asked for again under the same key with the same bytes. */
  post(request: ProbePost): Promise<Document | null>;
  close(): Promise<void>;
}

/** @throws LoteError `configuration-invalid` when the address or the key cannot be used. */
export function openProbeCalls(account: ServiceAccount, profile: ServiceProfile, application: string): ProbeCalls {
  const connection = openConnection({ ...account, profile, application });
  let requests = 0;

  async function call(request: Parameters<typeof connection.call>[0]): Promise<ExchangeResult> {
    if (requests >= MOST_REQUESTS) return { kind: 'not-sent', code: 'request-limit', retryAfterMs: null };
    requests += 1;
    return connection.call(request);
  }

  return {
    baseUrl: connection.baseUrl,
    sent: () => requests,
    get: (path) => call({ method: 'GET', path, signal: undefined }),
    async post({ path, body, idempotencyKey }) {
      const tries = idempotencyKey === null ? 1 : TRIES;
      for (let attempt = 1; ; attempt += 1) {
        // oxlint-disable-next-line no-await-in-loop
        const end = await call({
          ...{ method: 'POST', path, body, signal: undefined },
          ...(idempotencyKey !== null && { idempotencyKey }),
        });
        if (attempt >= tries || !isPassing(end)) return answered(end);
        // oxlint-disable-next-line no-await-in-loop
        await sleep(pauseOf(end));
      }
    },
    close: () => connection.close(),
  };
}

/** The answer of an exchange; null: none came. */
export function answered(end: ExchangeResult): Document | null {
  return end.kind === 'answer' ? documentOf(end) : null;
}

/** The service is busy, or the answer was lost. */
function isPassing(end: ExchangeResult): boolean {
  if (end.kind !== 'answer') return end.kind === 'broken';
  return (
    end.status === 429 || end.status === 425 || end.status >= 500 || (end.status === 403 && end.retryAfterMs !== null)
  );
}

function pauseOf(end: ExchangeResult): number {
  const asked = 'retryAfterMs' in end ? end.retryAfterMs : null;
  return Math.min(Math.max(asked ?? 0, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}
