import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { ConsoleActions, ConsoleOptions, HealthCheck, ShownSetting } from '../../console/console-options.ts';
import type { People } from '../../console/http/people.ts';
import { LOOPBACK_HOSTS, startConsole } from '../../console/console-app.ts';
import { isOpen, misfitsOf } from '../../domain/calibration-state.ts';
import { givenOnly } from '../../domain/given-only.ts';
import type { Readiness } from '../../domain/records/readiness.ts';
import type { Check } from '../../health/doctor/check.ts';
import { examineParts } from '../../health/doctor/doctor.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { sharedAnswer } from '../../platform/concurrency.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import { settingsOf } from '../../service/profile/json-schema.ts';
import { profileDigestOf } from '../account/read-profile.ts';
import type { Config, SignInConfig } from '../config/config.ts';
import { writeConsoleToken } from '../data-dir/endpoints-file.ts';
import { type CommonFolders, createCommonFolders } from '../folders/common-folders.ts';
import { createHandOver } from '../operator/hand-over.ts';
import { createBatchOperator, createBatchWatch, createConsoleRetry } from '../operator/operate-batch.ts';
import { createPurge } from '../operator/purge-batches.ts';
import { choosePort } from '../process/free-port.ts';
import type { Logger } from '../process/logger.ts';
import { createConsoleReconcile } from '../schedules/reconciliation-schedule.ts';
import type { OpenApplication, ProcessCore } from '../start/open-application.ts';
import { createReadiness } from '../start/readiness.ts';
import { answerWithin } from '../temporal/calls.ts';
import type { ConnectedTemporal } from '../temporal/temporal-server.ts';
import { VERSION } from '../version.ts';
import type { OpenWorker } from '../worker/start-worker.ts';
import { createFileActions } from './file-actions.ts';

/** The parts of a process that its console uses. */
export interface ShownParts {
  /** Null for a console alone, which sends nothing. */
  readonly application: OpenApplication | null;
  /** Null if there is no Temporal server, so that the console only shows. */
  readonly temporal: ConnectedTemporal | null;
  readonly worker: OpenWorker | null;
}

/** Starts the console for people. Other processes of an owner's data directory also hand over their work through it. */
export async function startProcessConsole(
  core: ProcessCore,
  { application, temporal, worker }: ShownParts,
): Promise<string> {
  const { config, ledger, log, profile, parts, own, receiverPort } = core;
  const { host, port } = config.console;
  const client = temporal?.client ?? null;
  const folders = worker === null ? createCommonFolders({ config, ledger, log }) : worker.folders;
  const service = application?.service ?? null;
  const isAsked = own !== null && client !== null && service !== null;
  const web = await startConsole({
    host,
    port: own === null || port === 0 ? port : await choosePort({ ...config.console, reserved: [receiverPort] }),
    ...consoleParts({
      ...{ config, ledger, profile, log, client, folders, temporalUi: temporal?.ui ?? null },
      serviceBaseUrl: service?.baseUrl ?? config.serviceBaseUrl,
      ...(isAsked && {
        asked: {
          run: createHandOver({ ...{ config, client, ledger, folders, service }, beforeHandOver: core.beforeHandOver }),
          purge: createPurge(config, ledger),
          rowsOfRefs: ({ batchId, refs }) => ledger.rowsOfRefs(batchId, refs),
        },
      }),
      ...(worker !== null && { ready: worker.ready }),
    }),
    ...(await tokenOf(core)),
  });
  parts.add('console', () => web.close());
  return web.url;
}

/** Returns the token of the console. An owner writes it into its data directory, where its other processes read it. */
async function tokenOf({ config, own }: ProcessCore): Promise<{ readonly token?: string }> {
  const { token: given, signIn, host } = config.console;
  if (own === null) return given === null ? {} : { token: given };
  const token = await writeConsoleToken(own.dataDir, given);
  // Off loopback, people use the token too, unless a proxy signs them in: so an operator must choose it.
  return given === null && signIn === null && !LOOPBACK_HOSTS.has(host) ? {} : { token };
}

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
