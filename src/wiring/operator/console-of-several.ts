import type { Client } from '@temporalio/client';
import { profileFindings } from '../../../activities/batch/profile-findings.ts';
import type { ConsoleActions, ConsoleOptions, HealthCheck } from '../../console/console-options.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../domain/ports/ledger.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { profileDigestOf } from '../account/profile-digest.ts';
import { findStuckRun } from '../temporal/stuck-run.ts';
import { VERSION } from '../start/version.ts';
import { consolePeople } from './console-people.ts';
import { createBatchOperator, createBatchWatch } from './operate-batch.ts';
import { createConsoleRetry } from './retry-batch.ts';

/** One of several applications as the console looks at it; `ledger` is what it sees of the ledger. */
export interface ConsoleAccount {
  readonly config: Config;
  readonly profile: ServiceProfile;
  readonly ledger: Pick<Ledger, 'breaker' | 'misfits'>;
  readonly baseUrl: string;
  /** Throws a sentence for the operator while nothing may be sent to this account. */
  readonly requireAccount: () => Promise<unknown>;
}

export interface ConsoleOfSeveral {
  /** What the applications have in common. */
  readonly config: Config;
  readonly ledger: Ledger;
  readonly client: Client;
  readonly accounts: readonly ConsoleAccount[];
  readonly temporalUi: string | null;
  readonly run: NonNullable<ConsoleActions['run']>;
  readonly ready: () => Promise<Readiness>;
  readonly log: Logger;
}

/**
 * The console over several applications: it shows their batches together or one application's alone, and acts on batches
 * that there are. A file, a purge and a reconciliation need one application, and are for the command line.
 */
export function consoleOfSeveral(parts: ConsoleOfSeveral): Omit<ConsoleOptions, 'access' | 'hosts' | 'token'> {
  const { config, ledger, client, accounts, log } = parts;
  const { taskQueue } = config;
  return {
    ledger,
    reportsDir: config.reportsDir,
    language: config.language,
    applications: accounts.map((one) => one.config.application),
    links: { temporalUi: parts.temporalUi, namespace: config.temporal.namespace, taskQueue },
    version: VERSION,
    ...(config.console.signIn === null ? {} : { people: consolePeople(config.console.signIn, ledger) }),
    actions: {
      run: parts.run,
      operate: createBatchOperator(client),
      watch: createBatchWatch(client),
      stuck: (workflowId) => findStuckRun(client, workflowId),
      retry: createConsoleRetry({
        ...{ client, taskQueue, ledgerId: ledger.id },
        applicationOf: async (batchId) => (await ledger.findBatch(batchId))?.application ?? null,
      }),
    },
    ready: parts.ready,
    misfits: async () => (await Promise.all(accounts.map(async (one) => misfitsOf(one)))).flat(),
    health: async () => Promise.all(accounts.map(async (one) => sending(one))),
    onError: (err) => log.error('console request failed', { err }),
  };
}

async function misfitsOf({ config, profile, ledger, baseUrl }: ConsoleAccount) {
  const found = await profileFindings(ledger, {
    profileDigest: profileDigestOf(config, profile),
    baseUrl,
    now: Date.now,
  });
  return found.map((misfit) => ({ ...misfit, message: `${config.application}: ${misfit.message}` }));
}

/** Whether anything of an application is sent at the moment. */
async function sending({ config, ledger, baseUrl, requireAccount }: ConsoleAccount): Promise<HealthCheck> {
  const name = `sending for ${config.application}`;
  try {
    await requireAccount();
  } catch (error) {
    if (!(error instanceof LoteError)) throw error;
    return { name, state: 'trouble', detail: error.message };
  }
  const breaker = await ledger.breaker(baseUrl);
  if (breaker === null) return { name, state: 'ok', detail: `open, to ${baseUrl}` };
  const since = new Date(breaker.openedAt).toISOString();
  return { name, state: 'trouble', detail: `Sending is stopped since ${since}: ${breaker.reason.message}` };
}
