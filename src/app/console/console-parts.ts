import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { ConsoleActions, ConsoleOptions, ShownSetting } from '../../console/console-options.ts';
import type { People } from '../../console/http/people.ts';
import { misfitsOf } from '../../domain/calibration.ts';
import { givenOnly } from '../../domain/given-only.ts';
import type { Readiness } from '../../domain/records/readiness.ts';
import { examineParts } from '../../health/doctor/doctor.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import { settingsOf } from '../../service/profile/settings.ts';
import { profileDigestOf } from '../account/read-profile.ts';
import type { Config, SignInConfig } from '../config/config.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { createBatchOperator, createBatchWatch } from '../operator/operate-batch.ts';
import { createConsoleReconcile } from '../schedules/reconciliation-schedule.ts';
import { createConsoleRetry } from '../operator/retry-batch.ts';
import type { Logger } from '../process/logger.ts';
import { createReadiness } from '../start/readiness.ts';
import { VERSION } from '../version.ts';
import { createFileActions } from './file-actions.ts';
import { createHealthChecks } from './health-checks.ts';

/** The settings of the service profile in force as the console shows them. */
export function profileSettings(profile: ServiceProfile): readonly ShownSetting[] {
  return settingsOf(profile).map((setting) => ({
    ...setting,
    value: JSON.stringify(setting.value),
    default: JSON.stringify(setting.default),
  }));
}

/** The sign-in settings, and a function that adds the names of people to the ledger's audit. */
export function consolePeople(signIn: SignInConfig, ledger: Pick<Ledger, 'noteActions'>): People {
  return {
    signIn,
    note: (batchId, action) => ledger.noteActions(batchId, [{ ...action, actionId: randomUUID(), at: Date.now() }]),
  };
}

interface ConsoleParts {
  readonly config: Config;
  readonly ledger: Ledger;
  /** Null if this process has no Temporal client; the console then only shows. */
  readonly client: Client | null;
  readonly profile: ServiceProfile;
  /** Null if this process does not know the service. */
  readonly serviceBaseUrl: string | null;
  readonly temporalUi: string | null;
  /** Requests from other processes to the owner of a data directory. Omitted if the ledger is shared. */
  readonly asked?: Pick<ConsoleActions, 'run' | 'purge' | 'rowsOfRefs'>;
  /** Null if this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
  /** If omitted, only the ledger must be ready. */
  readonly ready?: () => Promise<Readiness>;
  readonly log: Logger;
}

/** Builds the console's content and actions from the parts of this process. */
export function consoleParts(parts: ConsoleParts): Omit<ConsoleOptions, 'access' | 'hosts' | 'token'> {
  const { config, ledger, client, profile, serviceBaseUrl, log } = parts;
  const { signIn } = config.console;
  const profileDigest = profileDigestOf(config, profile);
  return {
    ledger,
    reportsDir: config.reportsDir,
    application: config.application,
    language: config.language,
    links: { temporalUi: parts.temporalUi, namespace: config.temporal.namespace },
    version: VERSION,
    serviceProfile: { ...givenOnly({ baseUrl: serviceBaseUrl ?? undefined }), ...profile },
    profileSettings: profileSettings(profile),
    ...(signIn === null ? {} : { people: consolePeople(signIn, ledger) }),
    ...(client === null ? {} : { actions: actionsOf(parts, client) }),
    ready: parts.ready ?? createReadiness({ ledger: () => ledger.ping() }),
    misfits: async () => misfitsOf(await ledger.calibration(profileDigest)),
    health: createHealthChecks({
      ...{ ledger, profileDigest, serviceBaseUrl, now: Date.now },
      examined: async () => examineParts({ config, profile, running: ledger, now: Date.now }),
    }),
    onError: (err) => log.error('console request failed', { err }),
  };
}

function actionsOf(parts: ConsoleParts, client: Client): ConsoleActions {
  const { config, ledger } = parts;
  const place = { client, taskQueue: config.taskQueue, ledgerId: ledger.id };
  return {
    ...parts.asked,
    files: createFileActions(parts, client),
    operate: createBatchOperator(place),
    watch: createBatchWatch(client),
    retry: createConsoleRetry(place),
    reconcile: createConsoleReconcile(client, config, ledger.id),
  };
}
