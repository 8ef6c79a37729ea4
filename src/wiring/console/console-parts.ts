import type { Client } from '@temporalio/client';
import type { ConsoleActions, ConsoleOptions } from '../../console/console-options.ts';
import type { ProfileEditor } from '../../console/profile-editor.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { profileText } from '../account/profile-text.ts';
import { answeredCall } from '../temporal/answered-call.ts';
import { batchOfFile, startBatch } from '../temporal/batch-starter.ts';
import { misfitsOfEach } from '../profile-fit/misfits-of-each.ts';
import { profileDigestOf } from '../profile-fit/profile-digest.ts';
import { checkFile } from '../files/check-file.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { examineParts } from '../doctor/doctor.ts';
import { createHealthChecks } from './health-checks.ts';
import { atMostAtOnce, CONSOLE_CHECK_MEMORY, requireCheckable } from './limited-checks.ts';
import { resolveInput } from '../files/input-files.ts';
import { otherwiseThanKnown } from '../files/otherwise-than-known.ts';
import { profileSha256 } from '../files/read-with-profile.ts';
import { keepUpload } from './keep-upload.ts';
import { consolePeople } from './console-people.ts';
import { createBatchOperator, createBatchWatch } from '../operator/operate-batch.ts';
import { createFileMapper } from './file-mapper.ts';
import { createReadiness } from '../start/readiness.ts';
import { findStuckRun } from '../temporal/stuck/stuck-run.ts';
import { readRecordings } from '../recordings/read-recordings.ts';
import { createProfileEditor, NOTHING_RECORDED, type Recordings } from './profile-editor.ts';
import { createRecordings } from './recorded-answers.ts';
import { createConsoleReconcile } from '../operator/reconcile-now.ts';
import { createConsoleRetry } from '../operator/retry-batch.ts';
import { savedProfile, saveProfile } from './save-profile.ts';
import { VERSION } from '../../runtime/version.ts';

export interface ConsoleParts {
  readonly config: Config;
  readonly ledger: Ledger;
  /** Null: this process knows no Temporal, so it only shows. */
  readonly client: Client | null;
  readonly profile: ServiceProfile;
  /** Null: this process does not know the service. */
  readonly serviceBaseUrl: string | null;
  readonly temporalUi: string | null;
  /** Work that another process hands over; where nobody can take it, this is null. */
  readonly run?: NonNullable<ConsoleActions['run']>;
  /** Where the ledger is this process's alone, others purge through it. */
  readonly purge?: NonNullable<ConsoleActions['purge']>;
  /** Null: this process shares folders with nobody. */
  readonly folders: CommonFolders | null;
  /** Left out: the console alone, which needs the ledger. */
  readonly ready?: () => Promise<Readiness>;
  readonly log: Logger;
}

/** Everything the console shows and sets in motion, over the parts of this process. */
export function consoleParts(parts: ConsoleParts): Omit<ConsoleOptions, 'access' | 'hosts' | 'token'> {
  const { config, ledger, client, log } = parts;
  const profileDigest = profileDigestOf(config, parts.profile);
  return {
    ledger,
    reportsDir: config.reportsDir,
    application: config.application,
    language: config.language,
    links: { temporalUi: parts.temporalUi, namespace: config.temporal.namespace, taskQueue: config.taskQueue },
    version: VERSION,
    serviceProfile: { ...(parts.serviceBaseUrl === null ? {} : { baseUrl: parts.serviceBaseUrl }), ...parts.profile },
    profileEditor: editorOf(parts),
    ...(config.console.signIn === null ? {} : { people: consolePeople(config.console.signIn, ledger) }),
    ...(client === null ? { showsOnly: true } : { actions: actionsOf(parts, client) }),
    ready: parts.ready ?? createReadiness({ ledger: () => ledger.ping() }),
    misfits: () => misfitsOfEach([{ config, profile: parts.profile, ledger, baseUrl: parts.serviceBaseUrl }]),
    health: createHealthChecks({
      ...{ ...parts, profileDigest, now: Date.now },
      examined: async () =>
        examineParts({
          common: config,
          applications: [{ config, profile: parts.profile }],
          running: ledger,
          now: Date.now,
        }),
    }),
    onError: (err) => log.error('console request failed', { err }),
  };
}

/** Where the console only shows, a copy can be checked and downloaded. */
function editorOf({ config, ledger, client, profile }: ConsoleParts): ProfileEditor {
  const { dataDir, serviceProfilePath: path, secrets, captureDir } = config;
  const place = { dataDir, ledger, now: Date.now };
  return createProfileEditor({
    ...{ profile, secrets, recordings: recordingsOf(captureDir, config.webhook.secrets) },
    fileText: () => (path === null ? null : profileTextIfAny(path)),
    ...(client === null ? {} : { save: (copy) => saveProfile(place, copy) }),
    kept: (name) => savedProfile(dataDir, name),
  });
}

/** A folder that cannot be read holds nothing, and the log of its writer says why. */
function recordingsOf(folder: string | null, secrets: readonly string[]): Recordings {
  if (folder === null) return NOTHING_RECORDED;
  return createRecordings(async (profile) =>
    readRecordings(folder, { profile, secrets }).then(
      ({ recordings }) => recordings,
      () => [],
    ),
  );
}

/** Somebody may have moved the file since the start. */
function profileTextIfAny(path: string): string | null {
  try {
    return profileText(path);
  } catch {
    return null;
  }
}

function actionsOf(parts: ConsoleParts, client: Client): ConsoleActions {
  const { config, ledger } = parts;
  return {
    ...(parts.run === undefined ? {} : { run: parts.run }),
    ...(parts.purge === undefined ? {} : { purge: parts.purge }),
    files: fileActions(parts, client),
    operate: createBatchOperator({ client, taskQueue: config.taskQueue }),
    watch: createBatchWatch(client),
    stuck: (workflowId) => findStuckRun(client, workflowId),
    retry: createConsoleRetry({
      ...{ client, taskQueue: config.taskQueue, ledgerId: ledger.id },
      applicationOf: async () => null,
    }),
    reconcile: createConsoleReconcile(client, config, ledger.id),
  };
}

/** A file that only this machine sees is of no use to the workers, so the input folder must be the common one. */
function fileActions(
  { config, ledger, folders, profile }: ConsoleParts,
  client: Client,
): NonNullable<ConsoleActions['files']> {
  const { inputDir, application, taskQueue } = config;
  return {
    async keep(name, content) {
      await folders?.require('input');
      return keepUpload({ inputDir, name, content });
    },
    check: atMostAtOnce(async (file, declared) => {
      await folders?.require('input');
      const path = await resolveInput(inputDir, file);
      await requireCheckable(path);
      const checked = await checkFile(path, inputDir, {
        ...declared,
        bodyTemplate: profile.requests.createInvoice.body,
        memory: CONSOLE_CHECK_MEMORY,
      });
      const { sha256 } = checked;
      return {
        ...checked,
        readOtherwise: await otherwiseThanKnown({ ledger, config }, { file, sha256, options: declared }),
      };
    }),
    mapper: createFileMapper({ config, ledger, folders, profile }),
    async start(file, declared, note, checked) {
      await folders?.require('input');
      const { batchId: noted, sha256 } = await batchOfFile({ application, inputDir }, ledger, file);
      if (checked?.sha256 !== undefined && checked.sha256 !== sha256) throw changedSinceCheck(file);
      if (checked?.profile !== undefined) {
        const path = await resolveInput(inputDir, file);
        const profile = (await profileSha256(path, { file: path, inputDir, options: declared })) ?? '';
        if (checked.profile !== profile) throw otherProfile(file);
      }
      await note(noted);
      const { batchId } = await answeredCall(client, 'Starting a batch', () =>
        startBatch({ client, taskQueue, application, inputDir }, { file, ledgerId: ledger.id, ...declared }),
      );
      return { batchId, sha256 };
    },
  };
}

/** Another person may have saved one for files of this name, or have changed it. */
function otherProfile(file: string): LoteError {
  return new LoteError(
    'file-changed',
    `Starting ${JSON.stringify(file)}: it must be read with the mapping profile with which it was checked, found that one was saved, changed or removed since. Nothing was sent: check it again, and start it then.`,
  );
}

/** An ERP may write to the input folder while somebody reads what a check has said. */
function changedSinceCheck(file: string): LoteError {
  return new LoteError(
    'file-changed',
    `Starting ${JSON.stringify(file)}: it must be the file that was checked, found that it was written to since. Nothing was sent: check it again, and start it then.`,
  );
}
