import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { request } from 'undici';
import type { HealthCheck } from '../../console/console-options.ts';
import { DELIVERIES_UNPROVEN } from '../../domain/profile-misfit.ts';
import type { Ledger } from '../../domain/ports/ledger.ts';

/** Whoever looks at the health page wants to know now. */
const PATIENCE_MS = 3_000;
/** Signatures and retention windows are counted in minutes; more than this shows in them. */
const CLOCK_TOLERANCE_MS = 30_000;
const LOOK_BACK_MS = 7 * 24 * 60 * 60 * 1_000;

export interface HealthParts {
  readonly ledger: Pick<Ledger, 'breaker' | 'lastDelivery' | 'misfits'>;
  readonly profileDigest: string;
  /** Null: this process knows no Temporal. */
  readonly client: Client | null;
  readonly taskQueue: string;
  /** Null: this process does not know the service. */
  readonly serviceBaseUrl: string | null;
  /** Of the receiver that this process runs; null: another process runs it. */
  readonly receiverUrl: string | null;
  readonly now: () => number;
}

/** What the console cannot see itself. Each check answers within seconds, whatever hangs. */
export function createHealthChecks(parts: HealthParts): () => Promise<readonly HealthCheck[]> {
  return async () => {
    const checks = await Promise.all([
      within('temporal', temporal(parts)),
      within('worker', worker(parts)),
      within('service', service(parts)),
      within('receiver', receiver(parts)),
      within('last webhook', lastWebhook(parts)),
      within('service profile', serviceProfile(parts)),
    ]);
    return checks.flat();
  };
}

async function within(name: string, check: Promise<readonly HealthCheck[]>): Promise<readonly HealthCheck[]> {
  const late = sleep(PATIENCE_MS, null, { ref: false });
  const found = await Promise.race([check.catch(() => null), late]);
  return found ?? [{ name, state: 'trouble', detail: `It did not answer within ${PATIENCE_MS / 1_000} s.` }];
}

async function temporal({ client }: HealthParts): Promise<readonly HealthCheck[]> {
  if (client === null) return [notSet('temporal', 'TEMPORAL_ADDRESS')];
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  return [{ name: 'temporal', state: 'ok', detail: `answers; server ${serverVersion}` }];
}

async function worker({ client, taskQueue }: HealthParts): Promise<readonly HealthCheck[]> {
  if (client === null) return [];
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: 1,
  });
  const count = pollers?.length ?? 0;
  return count > 0
    ? [{ name: 'worker', state: 'ok', detail: `${count} on task queue ${taskQueue}` }]
    : [{ name: 'worker', state: 'trouble', detail: `Nobody works on task queue ${taskQueue}. Start one: lote worker` }];
}

function notSet(name: string, variables: string): HealthCheck {
  return { name, state: 'unknown', detail: `not known to this process: ${variables} must be set for it too` };
}

/**
 * One request without a key: any answer at all proves that the service can be reached, and its Date header whether the
 * clocks agree.
 */
async function service({ ledger, serviceBaseUrl, now }: HealthParts): Promise<readonly HealthCheck[]> {
  if (serviceBaseUrl === null) return [notSet('service', 'INVOICING_BASE_URL')];
  const breaker = await ledger.breaker(serviceBaseUrl);
  const { statusCode, headers, body } = await request(serviceBaseUrl, {
    method: 'HEAD',
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  });
  await body.dump();
  const check: HealthCheck =
    breaker === null
      ? {
          name: 'service',
          state: 'ok',
          detail: `${serviceBaseUrl} answers (${statusCode} without a key); sending is open`,
        }
      : {
          name: 'service',
          state: 'trouble',
          detail: `Sending is stopped since ${new Date(breaker.openedAt).toISOString()}: ${breaker.reason.message}`,
        };
  return [check, clock(Date.parse(String(headers['date'] ?? '')), now())];
}

function clock(theirs: number, ours: number): HealthCheck {
  if (Number.isNaN(theirs))
    return { name: 'clock', state: 'unknown', detail: 'The service does not say what time it has.' };
  // The header has whole seconds.
  const apart = Math.max(0, Math.abs(ours - theirs) - 1_000);
  const seconds = Math.round(apart / 1_000);
  return apart <= CLOCK_TOLERANCE_MS
    ? {
        name: 'clock',
        state: 'ok',
        detail: seconds === 0 ? "agrees with the service's" : `${seconds} s from the service's`,
      }
    : { name: 'clock', state: 'trouble', detail: `${seconds} s from the service's. Set this machine's clock (NTP).` };
}

async function receiver({ receiverUrl }: HealthParts): Promise<readonly HealthCheck[]> {
  if (receiverUrl === null)
    return [{ name: 'receiver', state: 'unknown', detail: 'A process of its own receives webhooks.' }];
  const { statusCode, body } = await request(receiverUrl, { method: 'GET', headersTimeout: PATIENCE_MS });
  await body.dump();
  return [{ name: 'receiver', state: 'ok', detail: `${receiverUrl} answers (${statusCode} to a GET)` }];
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

async function lastWebhook({ ledger, now }: HealthParts): Promise<readonly HealthCheck[]> {
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
