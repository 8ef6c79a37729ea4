import type { Client } from '@temporalio/client';
import type { ConsoleActions, ConsoleOptions, ShownSetting } from '../../console/console-options.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Config, SignInConfig } from '../config/config.ts';
import type { Logger } from '../process/logger.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import { answeredCall } from '../temporal/answered-call.ts';
import { batchOfFile, startBatch } from '../temporal/batch-starter.ts';
import { misfitsOf } from '../../domain/calibration.ts';
import { profileDigestOf } from '../account/read-profile.ts';
import { checkFile } from '../files/check-file.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { examineParts } from '../../health/doctor/doctor.ts';
import { createHealthChecks } from './health-checks.ts';
import { inTurn, requireCheckable, keepUpload } from './keep-upload.ts';
import { createFileReader, resolveInput } from '../files/input-files.ts';
import { profileSha256 } from '../files/read-with-profile.ts';
import { createBatchOperator, createBatchWatch } from '../operator/operate-batch.ts';
import { createReadiness } from '../start/readiness.ts';
import { createConsoleReconcile } from '../operator/reconcile-now.ts';
import { createConsoleRetry } from '../operator/retry-batch.ts';
import { VERSION } from '../version.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Readiness } from '../../domain/records/readiness.ts';
import { randomUUID } from 'node:crypto';
import type { People } from '../../console/people/people.ts';
import { mapFile, type MappingRequest, mappingText } from './map-file.ts';
import { saveMapping } from './save-mapping.ts';
import type { FileMapper, MappingChoices } from '../../console/mapping/file-mapper.ts';
import { settingsOf } from '../../service/profile/settings.ts';
import type { BatchState } from '../../domain/records/batch-record.ts';
import type { ReadOptions } from '../../../activities/deps.ts';

/** A start reads such a file anew, as it is asked for now. */
const READ_ANEW: readonly BatchState[] = ['staging', 'refused'];

/**
 * In what a file would be read otherwise now than when its bytes were started, in words: a start would hold the rest of it (`read-otherwise`). Empty: in
 * nothing, or the ledger does not know these bytes. `file` is relative to the input directory.
 * @throws LoteError `file-unreadable`
 */
async function otherwiseThanKnown(
  {
    ledger,
    config,
  }: {
    readonly ledger: Pick<Ledger, 'batchOfFile'>;
    readonly config: Pick<Config, 'application' | 'inputDir' | 'dataDir'>;
  },
  start: { readonly file: string; readonly sha256: string; readonly options: ReadOptions },
): Promise<readonly string[]> {
  const known = await ledger.batchOfFile(config.application, start.sha256);
  if (known === null || READ_ANEW.includes(known.state)) return [];
  return createFileReader(config).readOtherwise({ ...start, proof: known.proof });
}

/** The settings of the service profile in force as the console shows them. */
export function profileSettings(profile: ServiceProfile): readonly ShownSetting[] {
  return settingsOf(profile).map((setting) => ({
    ...setting,
    value: JSON.stringify(setting.value),
    default: JSON.stringify(setting.default),
  }));
}

/** What mapping by hand needs. */
interface FileMapperParts {
  readonly config: Pick<Config, 'inputDir'>;
  readonly ledger: Pick<Ledger, 'noteActions'>;
  /** Null: this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
  readonly profile: ServiceProfile;
}

/** Maps files of the input folder. */
export function createFileMapper({ config, ledger, folders, profile }: FileMapperParts): FileMapper {
  const { inputDir } = config;

  async function pathOf(file: string): Promise<string> {
    await folders?.require('input');
    const path = await resolveInput(inputDir, file);
    await requireCheckable(path);
    return path;
  }

  const requestOf = async (file: string, choices: MappingChoices): Promise<MappingRequest> => ({
    ...{ path: await pathOf(file), inputDir, choices },
    bodyTemplate: profile.requests.createInvoice.body,
  });
  const textOf = inTurn(async (file: string, choices: MappingChoices) => mappingText(await requestOf(file, choices)));
  return {
    view: inTurn(async (file, choices) => mapFile(await requestOf(file, choices))),
    async save({ file, choices, name, by }) {
      const text = await textOf(file, choices);
      return text === null ? 'open' : saveMapping({ inputDir, ledger, now: Date.now }, { name, text, by });
    },
  };
}

/** Who is signed in, and the audit of the ledger that gets their names. */
export function consolePeople(signIn: SignInConfig, ledger: Pick<Ledger, 'noteActions'>): People {
  return {
    signIn,
    note: (batchId, action) => ledger.noteActions(batchId, [{ ...action, actionId: randomUUID(), at: Date.now() }]),
  };
}

export interface ConsoleParts {
  readonly config: Config;
  readonly ledger: Ledger;
  /** Null: this process knows no Temporal, so it only shows. */
  readonly client: Client | null;
  readonly profile: ServiceProfile;
  /** Null: this process does not know the service. */
  readonly serviceBaseUrl: string | null;
  readonly temporalUi: string | null;
  /** What other processes ask of the owner of a data directory. Left out: the ledger is shared. */
  readonly asked?: Pick<ConsoleActions, 'run' | 'purge' | 'rowsOfRefs'>;
  /** Null: this process shares its folders with no other process. */
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
    links: { temporalUi: parts.temporalUi, namespace: config.temporal.namespace },
    version: VERSION,
    serviceProfile: { ...(parts.serviceBaseUrl === null ? {} : { baseUrl: parts.serviceBaseUrl }), ...parts.profile },
    profileSettings: profileSettings(parts.profile),
    ...(config.console.signIn === null ? {} : { people: consolePeople(config.console.signIn, ledger) }),
    ...(client === null ? { showsOnly: true } : { actions: actionsOf(parts, client) }),
    ready: parts.ready ?? createReadiness({ ledger: () => ledger.ping() }),
    misfits: async () => misfitsOf(await ledger.calibration(profileDigest)),
    health: createHealthChecks({
      ...{ ...parts, profileDigest, now: Date.now },
      examined: async () => examineParts({ config, profile: parts.profile, running: ledger, now: Date.now }),
    }),
    onError: (err) => log.error('console request failed', { err }),
  };
}

function actionsOf(parts: ConsoleParts, client: Client): ConsoleActions {
  const { config, ledger } = parts;
  return {
    ...parts.asked,
    files: fileActions(parts, client),
    operate: createBatchOperator({ client, taskQueue: config.taskQueue }),
    watch: createBatchWatch(client),
    retry: createConsoleRetry({
      ...{ client, taskQueue: config.taskQueue, ledgerId: ledger.id },
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
    check: inTurn(async (file, declared) => {
      await folders?.require('input');
      const path = await resolveInput(inputDir, file);
      await requireCheckable(path);
      const checked = await checkFile(path, inputDir, {
        ...declared,
        bodyTemplate: profile.requests.createInvoice.body,
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

/** An ERP may write to the input folder while a person reads the result of a check. */
function changedSinceCheck(file: string): LoteError {
  return new LoteError(
    'file-changed',
    `Starting ${JSON.stringify(file)}: it must be the file that was checked, found that it was written to since. Nothing was sent: check it again, and start it then.`,
  );
}
