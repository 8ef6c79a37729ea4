import type { Client } from '@temporalio/client';
import type { ConsoleActions, ConsoleOptions, HealthCheck } from '../../console/console-options.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { misfitsOfEach } from '../profile-fit/misfits-of-each.ts';
import { examineParts } from '../doctor/doctor.ts';
import { createExaminedChecks, lastWebhook } from './health-checks.ts';
import { createReadiness } from '../start/readiness.ts';
import { findStuckRun } from '../temporal/stuck/stuck-run.ts';
import { VERSION } from '../../runtime/version.ts';
import { consolePeople } from './console-people.ts';
import { createBatchOperator, createBatchWatch } from '../operator/operate-batch.ts';
import { createConsoleRetry } from '../operator/retry-batch.ts';

/** One of several applications as the console looks at it; `ledger` is what it sees of the ledger. */
export interface ConsoleAccount {
  readonly config: Config;
  readonly profile: ServiceProfile;
  readonly ledger: Pick<Ledger, 'breaker' | 'misfits'>;
  /** Null: this process does not know the service. */
  readonly baseUrl: string | null;
  /** Throws a sentence for the operator while nothing may be sent to this account; left out: this process has no key. */
  readonly requireAccount?: () => Promise<unknown>;
}

/** Without a key this process sees neither whose account it is nor whether the ledger was restored. */
const KNOWN_TO_WORKERS = 'The circuit breaker is closed; whether its account may send, the workers know.';

/** What the console over several applications is made of. */
export interface ConsoleOfSeveral {
  /** What the applications have in common. */
  readonly config: Config;
  readonly ledger: Ledger;
  /** Null: this process knows no Temporal, so it only shows. */
  readonly client: Client | null;
  readonly accounts: readonly [ConsoleAccount, ...ConsoleAccount[]];
  readonly temporalUi: string | null;
  /** Work that another process hands over; left out: nobody can take it. */
  readonly run?: NonNullable<ConsoleActions['run']>;
  /** Where the ledger is this process's alone, others purge through it. */
  readonly purge?: NonNullable<ConsoleActions['purge']>;
  /** Left out: the console alone, which needs the ledger. */
  readonly ready?: () => Promise<Readiness>;
  readonly log: Logger;
}

/**
 * The console over several applications: it shows their batches together or one application's alone, and acts on batches
 * that there are. A file and a reconciliation need one application, and are for the command line.
 */
export function consoleOfSeveral(parts: ConsoleOfSeveral): Omit<ConsoleOptions, 'access' | 'hosts' | 'token'> {
  const { config, ledger, client, accounts, log } = parts;
  const [first, ...others] = accounts;
  const examined = createExaminedChecks({
    examined: async () =>
      examineParts({ common: config, applications: [first, ...others], running: ledger, now: Date.now }),
    now: Date.now,
  });
  return {
    ledger,
    reportsDir: config.reportsDir,
    language: config.language,
    applications: accounts.map((one) => one.config.application),
    links: { temporalUi: parts.temporalUi, namespace: config.temporal.namespace, taskQueue: config.taskQueue },
    version: VERSION,
    ...(config.console.signIn === null ? {} : { people: consolePeople(config.console.signIn, ledger) }),
    ...(client === null ? { showsOnly: true } : { actions: actionsOf(parts, client) }),
    ready: parts.ready ?? createReadiness({ ledger: () => ledger.ping() }),
    misfits: () => misfitsOfEach(accounts),
    health: async () => {
      const checks = await Promise.all([
        examined(),
        ...accounts.map(async (one) => [await sending(one)]),
        lastWebhook({ ledger, now: Date.now }),
      ]);
      return checks.flat();
    },
    onError: (err) => log.error('console request failed', { err }),
  };
}

function actionsOf({ config, ledger, ...parts }: ConsoleOfSeveral, client: Client): ConsoleActions {
  return {
    ...(parts.run === undefined ? {} : { run: parts.run }),
    ...(parts.purge === undefined ? {} : { purge: parts.purge }),
    operate: createBatchOperator({ client, taskQueue: config.taskQueue }),
    watch: createBatchWatch(client),
    stuck: (workflowId) => findStuckRun(client, workflowId),
    retry: createConsoleRetry({
      ...{ client, taskQueue: config.taskQueue, ledgerId: ledger.id },
      applicationOf: async (batchId) => (await ledger.findBatch(batchId))?.application ?? null,
    }),
  };
}

/** Whether anything of an application is sent at the moment. */
async function sending({ config, ledger, baseUrl, requireAccount }: ConsoleAccount): Promise<HealthCheck> {
  const name = `sending for ${config.application}`;
  try {
    await requireAccount?.();
  } catch (error) {
    if (!(error instanceof LoteError)) throw error;
    return { name, state: 'trouble', detail: error.message };
  }
  if (baseUrl === null) return { name, state: 'unknown', detail: 'This process does not know the service.' };
  const breaker = await ledger.breaker(baseUrl);
  if (breaker === null && requireAccount === undefined) return { name, state: 'unknown', detail: KNOWN_TO_WORKERS };
  if (breaker === null) return { name, state: 'ok', detail: `open, to ${baseUrl}` };
  const since = new Date(breaker.openedAt).toISOString();
  return { name, state: 'trouble', detail: `Sending is stopped since ${since}: ${breaker.reason.message}` };
}
