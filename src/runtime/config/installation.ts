import { realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { readApplicationFile, type ApplicationEntry } from './application-file.ts';
import { findApplications } from './applications-folder.ts';
import { configOf, type Config, type UseOfService } from './config.ts';
import { resolveSecretFiles, type Environment } from './env-secret-files.ts';

/** All that is set up here: one application by the environment, or several by the files of `applications/`. */
export interface Installation {
  /** What the applications have in common: ledger, Temporal, ports, times. Where there is one, it is that one's. */
  readonly common: Config;
  /** At least one. Of several, each has its own account, folders, profile, rate and schedule. */
  readonly applications: readonly [Config, ...Config[]];
  /** The applications are those of files: each piece of work names its own. */
  readonly several: boolean;
}

/**
 * Reads the environment, and the folder LOTE_APPLICATIONS_DIR where there is one. A process that does `nothing` at the
 * service gets no keys, and needs no files of keys.
 * @throws LoteError `configuration-invalid` with every mistake of every file
 */
export function readInstallation(
  environment: Environment,
  workingDirectory: string = process.cwd(),
  use: UseOfService = 'requests',
): Installation {
  const set = resolveSecretFiles(environment);
  const found = findApplications(set, workingDirectory);
  if (found === null) {
    const config = configOf(environment, workingDirectory, use);
    return { common: config, applications: [config], several: false };
  }
  requireNoneOfOne(set, found.folder);
  const common = configOf(environment, workingDirectory, 'nothing');
  const faults: string[] = [];
  const entries = found.files.flatMap(
    (file) => readApplicationFile(file, use, (mistake) => faults.push(mistake)) ?? [],
  );
  const applications = entries.map((entry) => applicationConfig(common, entry, workingDirectory));
  faults.push(...contradictions(entries, applications, use === 'requests' && set['INVOICING_BASE_URL'] === undefined));
  const [first, ...others] = applications;
  if (faults.length > 0 || first === undefined) throw invalid(faults);
  const secrets = [...new Set([...common.secrets, ...applications.flatMap((one) => one.secrets)])];
  return {
    common: { ...common, secrets },
    applications: [{ ...first, secrets }, ...others.map((one) => ({ ...one, secrets }))],
    several: true,
  };
}

/**
 * The application that a command works for. `name` null: nobody has named one, which will do where there is one alone.
 * @throws LoteError `usage` with the names that there are
 */
export function chooseApplication({ applications, several }: Installation, name: string | null): Config {
  const [first] = applications;
  const found = applications.find(({ application }) => application === name);
  if (found !== undefined) return found;
  if (!several && name === null && first !== undefined) return first;
  const names = applications.map(({ application }) => application).join(', ');
  throw new LoteError(
    'usage',
    name === null
      ? `Choosing an application: there are several (${names}), and each has its own account, so one must be named. Add --application NAME.`
      : `Choosing an application: --application must be one of ${names}, found ${JSON.stringify(name)}.`,
  );
}

/** What the environment says of one application would hold for all of them, or for none. */
function requireNoneOfOne(set: Readonly<Record<string, string>>, folder: string): void {
  const own = {
    INVOICING_API_KEY: 'apiKeyFile',
    WEBHOOK_SECRET: 'webhookSecretFile',
    SERVICE_PROFILE: 'serviceProfile',
    LOTE_INPUT_DIR: 'inputDir',
    LOTE_APPLICATION: 'name',
  };
  const found = Object.entries(own).flatMap(([variable, field]) =>
    set[variable] === undefined
      ? []
      : [
          `${variable} must not be set where ${folder} describes the applications; each has its own: "${field}" of its file.`,
        ],
  );
  if (found.length > 0) throw invalid(found);
}

function applicationConfig(common: Config, entry: ApplicationEntry, workingDirectory: string): Config {
  const { name, apiKey, schedule } = entry;
  const path = (relative: string): string => resolve(workingDirectory, relative);
  const baseUrl = entry.baseUrl ?? common.serviceBaseUrl;
  return {
    ...common,
    ...{ application: name, isOneOfSeveral: true, rate: entry.rate ?? null },
    // Without an address its file is refused, or this process asks nothing of the service.
    service: apiKey === null || baseUrl === null ? { kind: 'sandbox' } : { kind: 'remote', baseUrl, apiKey },
    serviceBaseUrl: baseUrl,
    serviceProfilePath: entry.serviceProfile === undefined ? null : path(entry.serviceProfile),
    captureDir: common.captureDir === null ? null : join(common.captureDir, name),
    webhook: {
      graceMs: common.webhook.graceMs,
      secrets: entry.webhookSecrets,
      secretFile: entry.webhookSecretFile === undefined ? null : path(entry.webhookSecretFile),
      url: common.webhook.url === null ? null : addressBelow(common.webhook.url, name),
    },
    inputDir: path(entry.inputDir),
    reportsDir: join(common.reportsDir, name),
    dataDir: join(common.dataDir, 'applications', name),
    schedule:
      schedule === undefined ? null : { ...schedule.at, timezone: schedule.timezone, catchUpMs: schedule.catchUp },
    secrets: [...common.secrets, ...(apiKey === null ? [] : [apiKey]), ...entry.webhookSecrets],
  };
}

/** The address may have a query, which stays behind the name. */
function addressBelow(address: string, name: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${name}`;
  return url.href;
}

function contradictions(
  entries: readonly ApplicationEntry[],
  applications: readonly Config[],
  needsAddress: boolean,
): readonly string[] {
  return [
    ...entries.flatMap(({ file, baseUrl }) =>
      baseUrl === undefined && needsAddress
        ? [
            `${file}: baseUrl must be set, or INVOICING_BASE_URL for all applications; several applications never use the built-in sandbox.`,
          ]
        : [],
    ),
    ...twins(entries, ({ name }) => name).map(
      ([first, second]) =>
        `${second.file}: name must be one that no other file has; ${JSON.stringify(second.name)} is that of ${first.file}, too.`,
    ),
    ...twins(entries, ({ apiKey }, index) =>
      JSON.stringify([applications[index]?.serviceBaseUrl, apiKey ?? index]),
    ).map(
      ([first, second]) =>
        `${second.file}: apiKeyFile must name a key of its own; ${first.file} has the same key at the same address.`,
    ),
    ...otherServices(entries, applications),
    ...sharedFolders(entries, applications),
  ];
}

/** The ledger holds each id of the service once: the document of a second service with the same id would be nobody's. */
function otherServices(entries: readonly ApplicationEntry[], applications: readonly Config[]): readonly string[] {
  const addressed = entries.flatMap(({ file }, index) => {
    const address = applications[index]?.serviceBaseUrl ?? '';
    return address === '' ? [] : [{ file, address }];
  });
  const [first, ...others] = addressed;
  return others.flatMap(({ file, address }) =>
    first === undefined || address === first.address
      ? []
      : [
          `${file}: baseUrl must be the same for all applications, because two services may give two documents one id; it is ${address}, and ${first.address} for ${first.file}. Give the other service an installation of its own, with its own LOTE_DATA_DIR, LOTE_TASK_QUEUE and DATABASE_URL.`,
        ],
  );
}

/** Each file with the first one before it that says the same. */
function twins(
  entries: readonly ApplicationEntry[],
  wordOf: (entry: ApplicationEntry, index: number) => string,
): readonly (readonly [ApplicationEntry, ApplicationEntry])[] {
  const first = new Map<string, ApplicationEntry>();
  return entries.flatMap((entry, index) => {
    const word = wordOf(entry, index);
    const before = first.get(word);
    if (before === undefined) first.set(word, entry);
    return before === undefined ? [] : [[before, entry] as const];
  });
}

/** A file in a folder of two applications would be issued by both. */
function sharedFolders(entries: readonly ApplicationEntry[], applications: readonly Config[]): readonly string[] {
  const folders = applications.map(({ inputDir }) => `${realPath(inputDir)}${sep}`);
  const kept = applications.slice(0, 1).flatMap((one) => [join(one.reportsDir, '..'), join(one.dataDir, '..', '..')]);
  return entries.flatMap((entry, index) => {
    const own = folders[index] ?? '';
    const other = entries.find((_, before) => before < index && overlap(own, folders[before] ?? ''));
    const taken = kept.find((folder) => overlap(own, `${realPath(folder)}${sep}`));
    return [
      ...(other === undefined
        ? []
        : [
            `${entry.file}: inputDir must be a folder of its own; ${entry.inputDir} is, holds or lies in that of ${other.file}.`,
          ]),
      ...(taken === undefined
        ? []
        : [
            `${entry.file}: inputDir must be a folder of its own; ${entry.inputDir} is, holds or lies in ${taken}, where Lote writes.`,
          ]),
    ];
  });
}

function overlap(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** Of the longest part that is there: a link must not make one folder look like two. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = resolve(path, '..');
    return parent === path ? path : join(realPath(parent), path.slice(parent.length).replace(/^[/\\]/u, ''));
  }
}

function invalid(problems: readonly string[]): LoteError {
  return new LoteError('configuration-invalid', `Reading the applications: ${problems.join('\n')}`);
}
