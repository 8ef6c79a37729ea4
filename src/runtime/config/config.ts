import { resolve } from 'node:path';
import type { z } from 'zod';
import { LoteError } from '../../domain/errors.ts';
import { findApplications } from './applications-folder.ts';
import { databaseUrlOf } from './database-url.ts';
import { EnvSchema, type Env } from './env-schema.ts';
import { resolveSecretFiles, SECRET_VARIABLES, type Environment } from './env-secret-files.ts';
import { messageConfig, messageContradictions, type MessageConfig } from './message-config.ts';
import { otlpSecrets } from './otlp-secrets.ts';
import { readTemporalProfile } from './temporal-profile.ts';

/** How keys of the service's test mode begin. */
const TEST_KEY = 'sk_test_';

/** Where to listen. A port that was set is meant; a default one may give way to the next free one. */
export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly explicit: boolean;
  /** Named in an error when the port is taken. */
  readonly variable: string;
}

export type ServiceConfig =
  | { readonly kind: 'sandbox' }
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly apiKey: string };

/** Where Temporal is. `address` and `uiUrl` are null when they are not configured. */
export interface TemporalConfig {
  /** null: an embedded server of our own. */
  readonly address: string | null;
  readonly namespace: string;
  readonly apiKey: string | null;
  /** TEMPORAL_API_KEY_FILE; null: the key, if there is one, stands in the environment. */
  readonly apiKeyFile: string | null;
  readonly tls: TemporalTlsConfig | null;
  /** Of the UI of a server that was given; the embedded one knows its own. */
  readonly uiUrl: string | null;
}

/** Paths are of PEM files. */
export interface TemporalTlsConfig {
  readonly serverName: string | null;
  readonly serverCaCertPath: string | null;
  readonly clientCertPath: string | null;
  readonly clientKeyPath: string | null;
}

/** People whom a reverse proxy signs in. Addresses are IP addresses or networks (CIDR); names and groups as the proxy writes them. */
export interface SignInConfig {
  readonly trustedProxies: readonly string[];
  readonly userHeader: string;
  readonly groupsHeader: string;
  readonly operators: readonly string[];
  readonly operatorGroups: readonly string[];
  readonly publicUrl: string;
}

/** All that the environment decides; times in milliseconds, paths absolute, the budget a fraction. */
export interface Config {
  readonly service: ServiceConfig;
  /** INVOICING_BASE_URL, also of a console that has no key; null: the built-in sandbox. */
  readonly serviceBaseUrl: string | null;
  /** null: the built-in service profile. */
  readonly serviceProfilePath: string | null;
  /** Folder to which answers and deliveries are recorded, masked; null: none are. */
  readonly captureDir: string | null;
  readonly webhook: {
    readonly secrets: readonly string[];
    /** Where they were read from, to be read again; null: from the environment. */
    readonly secretFile: string | null;
    /** For how long secrets of earlier addresses are accepted after the registration of `url`. */
    readonly graceMs: number;
    readonly url: string | null;
  };
  readonly receiver: ListenConfig;
  /** Health address of a worker, which listens for nothing else; null: none. */
  readonly health: ListenConfig | null;
  /** Where the process serves its metrics; null: nowhere, and nothing is measured. */
  readonly metrics: ListenConfig | null;
  /** `endpoint`: of an OTLP collector over HTTP; `postShare`: of the POSTs, 0 to 1, that get a span. null: no traces. */
  readonly traces: { readonly endpoint: string; readonly postShare: number } | null;
  /** `publicUrl`: where people reach the console, for links to it; null: where it listens, if this process has it. */
  readonly console: ListenConfig & {
    readonly token: string | null;
    readonly publicUrl: string | null;
    /** null: whoever reaches the console may act, and nobody has a name. */
    readonly signIn: SignInConfig | null;
  };
  /** `profilePath`: the service profile that it speaks; null: as published. */
  readonly sandbox: ListenConfig & { readonly profilePath: string | null };
  /** null: the embedded ledger under the data directory. */
  readonly databaseUrl: string | null;
  readonly temporal: TemporalConfig;
  readonly taskQueue: string;
  readonly dataDir: string;
  readonly inputDir: string;
  readonly reportsDir: string;
  readonly application: string;
  /** One of those that `applications/` describes; then each piece of work names the application that it is for. */
  readonly isOneOfSeveral: boolean;
  /** What takes the place of `limits` of the service profile; null: nothing does. */
  readonly rate: {
    readonly requestsPerSecond?: number | undefined;
    readonly maxConcurrency?: number | undefined;
  } | null;
  /** The night of an application's file: local time in `timezone`; null: nights are switched by command. */
  readonly schedule: {
    readonly hour: number;
    readonly minute: number;
    readonly timezone: string;
    readonly catchUpMs: number;
  } | null;
  /** Program that is run for each report, and its first arguments; null: none. */
  readonly onReport: readonly string[] | null;
  /** Language of what is written for people, such as `pt` or `pt-BR`. */
  readonly language: string;
  readonly messages: MessageConfig;
  /** When a dropped file is complete: unchanged for this long and, if so set, with a `.done` file beside it. */
  readonly drop: { readonly stableMs: number; readonly patienceMs: number; readonly marker: boolean };
  readonly settleTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly outagePatienceMs: number;
  readonly failureBudget: number;
  /** By how much the total of a file may differ from earlier ones of its pattern before it is held; null: by anything. */
  readonly totalFactor: number | null;
  readonly pageSize: number;
  readonly logLevel: Env['LOTE_LOG_LEVEL'];
  /** null, always, outside tests of crash safety. */
  readonly crashAt: string | null;
  /** Everything that must never be printed; for the logger's redaction. */
  readonly secrets: readonly string[];
}

/** What a process does at the service: `nothing` needs no key, and can show the address all the same. */
export type UseOfService = 'requests' | 'nothing';

/**
 * Reads the environment of an installation with one application; `readInstallation` reads any.
 * @throws LoteError `configuration-invalid`, also where a folder describes the applications: what this is read for
 * must not be done with the key of one client among several
 */
export function readConfig(
  environment: Environment,
  workingDirectory: string = process.cwd(),
  use: UseOfService = 'requests',
): Config {
  const several = findApplications(resolveSecretFiles(environment), workingDirectory);
  if (several === null) return configOf(environment, workingDirectory, use);
  throw invalid([
    `This command works with the account of the environment alone, and ${several.folder} describes ${several.files.length} applications. Nothing was done. Run it in another directory, without LOTE_APPLICATIONS_DIR, and name the account there: INVOICING_BASE_URL, INVOICING_API_KEY.`,
  ]);
}

/**
 * What the environment alone says. One error names everything that is wrong with it; no secret is ever part of that error.
 * @throws LoteError `configuration-invalid`
 */
export function configOf(environment: Environment, workingDirectory: string, use: UseOfService): Config {
  const set = resolveSecretFiles(environment);
  const given = { ...readTemporalProfile(set), ...set };
  const parsed = EnvSchema.safeParse(given);
  if (!parsed.success) throw invalid(parsed.error.issues.map((issue) => describe(issue, given)));
  const contradictions = findContradictions(parsed.data, use);
  if (contradictions.length > 0) throw invalid(contradictions);
  return toConfig(parsed.data, workingDirectory, given);
}

/** `given`: where the files of secrets stand, which some are read from again. */
function toConfig(env: Env, workingDirectory: string, given: Environment): Config {
  const path = (relative: string): string => resolve(workingDirectory, relative);
  return {
    service: toService(env),
    serviceBaseUrl: env.INVOICING_BASE_URL ?? null,
    serviceProfilePath: env.SERVICE_PROFILE === undefined ? null : path(env.SERVICE_PROFILE),
    captureDir: env.LOTE_CAPTURE === undefined ? null : path(env.LOTE_CAPTURE),
    webhook: toWebhook(env, given['WEBHOOK_SECRET_FILE'] ?? null),
    receiver: toListen(env.RECEIVER_HOST, env.RECEIVER_PORT, { port: 8090, variable: 'RECEIVER_PORT' }),
    health:
      env.HEALTH_PORT === 'none'
        ? null
        : toListen(env.HEALTH_HOST, env.HEALTH_PORT, { port: 8093, variable: 'HEALTH_PORT' }),
    metrics:
      env.METRICS_PORT === undefined
        ? null
        : toListen(env.METRICS_HOST, env.METRICS_PORT, { port: 0, variable: 'METRICS_PORT' }),
    traces:
      env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? null
        : { endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT, postShare: env.LOTE_TRACE_SHARE },
    console: {
      ...toListen(env.CONSOLE_HOST, env.CONSOLE_PORT, { port: 8091, variable: 'CONSOLE_PORT' }),
      token: env.CONSOLE_TOKEN ?? null,
      publicUrl: env.CONSOLE_URL ?? null,
      signIn: toSignIn(env),
    },
    sandbox: {
      ...toListen(env.SANDBOX_HOST, env.SANDBOX_PORT, { port: 8092, variable: 'SANDBOX_PORT' }),
      profilePath: env.SANDBOX_PROFILE === undefined ? null : path(env.SANDBOX_PROFILE),
    },
    databaseUrl: databaseUrlOf(env),
    temporal: toTemporal(env, given['TEMPORAL_API_KEY_FILE'] ?? null, path),
    taskQueue: env.LOTE_TASK_QUEUE,
    dataDir: path(env.LOTE_DATA_DIR),
    inputDir: path(env.LOTE_INPUT_DIR),
    reportsDir: path(env.LOTE_REPORTS_DIR),
    application: env.LOTE_APPLICATION,
    isOneOfSeveral: false,
    rate: null,
    schedule: null,
    onReport: env.LOTE_ON_REPORT ?? null,
    language: env.LOTE_LANGUAGE,
    messages: messageConfig(env, path),
    drop: {
      stableMs: env.LOTE_DROP_STABLE_FOR,
      patienceMs: env.LOTE_DROP_PATIENCE,
      marker: env.LOTE_DROP_MARKER === 'done',
    },
    settleTimeoutMs: env.LOTE_SETTLE_TIMEOUT,
    sendTimeoutMs: env.LOTE_SEND_TIMEOUT,
    outagePatienceMs: env.LOTE_OUTAGE_PATIENCE,
    failureBudget: env.LOTE_FAILURE_BUDGET,
    totalFactor: env.LOTE_TOTAL_FACTOR,
    pageSize: env.LOTE_PAGE_SIZE,
    logLevel: env.LOTE_LOG_LEVEL,
    crashAt: env.LOTE_CRASH_AT ?? null,
    secrets: secretsOf(env),
  };
}

function toService(env: Env): ServiceConfig {
  const { INVOICING_BASE_URL: baseUrl, INVOICING_API_KEY: apiKey } = env;
  return baseUrl === undefined || apiKey === undefined ? { kind: 'sandbox' } : { kind: 'remote', baseUrl, apiKey };
}

function toWebhook(env: Env, secretFile: string | null): Config['webhook'] {
  return {
    ...{ secrets: env.WEBHOOK_SECRET ?? [], secretFile },
    ...{ graceMs: env.WEBHOOK_SECRET_GRACE, url: env.WEBHOOK_URL ?? null },
  };
}

function toListen(host: string, port: number | undefined, fallback: { port: number; variable: string }): ListenConfig {
  return { host, port: port ?? fallback.port, explicit: port !== undefined, variable: fallback.variable };
}

function toTemporal(env: Env, keyFile: string | null, path: (relative: string) => string): TemporalConfig {
  const optionalPath = (value: string | undefined): string | null => (value === undefined ? null : path(value));
  const tls: TemporalTlsConfig = {
    serverName: env.TEMPORAL_TLS_SERVER_NAME ?? null,
    serverCaCertPath: optionalPath(env.TEMPORAL_TLS_SERVER_CA_CERT_PATH),
    clientCertPath: optionalPath(env.TEMPORAL_TLS_CLIENT_CERT_PATH),
    clientKeyPath: optionalPath(env.TEMPORAL_TLS_CLIENT_KEY_PATH),
  };
  // As in the SDK's own environment configuration: an API key, or any TLS setting, means TLS unless it is switched off.
  const wanted = env.TEMPORAL_API_KEY !== undefined || Object.values(tls).some((value) => value !== null);
  return {
    address: env.TEMPORAL_ADDRESS ?? null,
    namespace: env.TEMPORAL_NAMESPACE,
    apiKey: env.TEMPORAL_API_KEY ?? null,
    apiKeyFile: keyFile,
    tls: (env.TEMPORAL_TLS ?? wanted) ? tls : null,
    uiUrl: env.TEMPORAL_UI_URL ?? null,
  };
}

/** Trusted proxies switch it on; what it needs besides is checked before. */
function toSignIn(env: Env): SignInConfig | null {
  if (env.CONSOLE_TRUSTED_PROXIES === undefined) return null;
  return {
    trustedProxies: env.CONSOLE_TRUSTED_PROXIES,
    userHeader: env.CONSOLE_USER_HEADER,
    groupsHeader: env.CONSOLE_GROUPS_HEADER,
    operators: env.CONSOLE_OPERATORS ?? [],
    operatorGroups: env.CONSOLE_OPERATOR_GROUPS ?? [],
    publicUrl: env.CONSOLE_URL ?? '',
  };
}

/** The password of the database address too: drivers print it without the rest. */
function secretsOf(env: Env): readonly string[] {
  const databaseUrl = databaseUrlOf(env);
  const address = databaseUrl === null ? null : new URL(databaseUrl);
  const password = address?.password ?? '';
  const all = [
    env.INVOICING_API_KEY,
    ...(env.WEBHOOK_SECRET ?? []),
    env.DATABASE_URL,
    databaseUrl ?? undefined,
    password,
    decodeURIComponent(password),
    ...(address?.searchParams.getAll('password') ?? []),
    env.PGPASSWORD,
    env.TEMPORAL_API_KEY,
    env.CONSOLE_TOKEN,
    env.LOTE_SMTP_PASSWORD,
    env.LOTE_MESSAGE_SECRET,
    ...otlpSecrets(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
  ];
  return [...new Set(all.filter((secret): secret is string => secret !== undefined && secret !== ''))];
}

function findContradictions(env: Env, use: UseOfService): readonly string[] {
  const found: string[] = [...messageContradictions(env)];
  // A fallback to the sandbox here would report invoices as issued that were never issued.
  if (env.INVOICING_BASE_URL === undefined && env.INVOICING_API_KEY !== undefined) {
    found.push(
      'INVOICING_BASE_URL must be set when INVOICING_API_KEY is; found only the key. Unset both for the built-in sandbox.',
    );
  }
  if (use === 'requests' && env.INVOICING_BASE_URL !== undefined && env.INVOICING_API_KEY === undefined) {
    found.push(
      'INVOICING_API_KEY (or INVOICING_API_KEY_FILE) must be set when INVOICING_BASE_URL is; found only the address.',
    );
  }
  found.push(...signInContradictions(env));
  if (env.LOTE_CRASH_AT !== undefined && !(env.INVOICING_API_KEY ?? TEST_KEY).startsWith(TEST_KEY)) {
    found.push(
      `LOTE_CRASH_AT ends the process on purpose and is for tests; it must not be set with a key that does not begin with ${TEST_KEY}.`,
    );
  }
  if ((env.TEMPORAL_TLS_CLIENT_CERT_PATH === undefined) !== (env.TEMPORAL_TLS_CLIENT_KEY_PATH === undefined)) {
    found.push(
      'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH must be set together; found one of them.',
    );
  }
  return found;
}

/** Whoever names operators believes that the others may not act. */
function signInContradictions(env: Env): readonly string[] {
  if (env.CONSOLE_TRUSTED_PROXIES === undefined) {
    const given = [env.CONSOLE_OPERATORS, env.CONSOLE_OPERATOR_GROUPS].some((names) => names !== undefined);
    return given
      ? [
          'CONSOLE_TRUSTED_PROXIES must be set when CONSOLE_OPERATORS or CONSOLE_OPERATOR_GROUPS is; found only these: nobody would be signed in, and everybody could act.',
        ]
      : [];
  }
  if (env.CONSOLE_USER_HEADER.toLowerCase() === env.CONSOLE_GROUPS_HEADER.toLowerCase())
    return ['CONSOLE_USER_HEADER and CONSOLE_GROUPS_HEADER must be two headers; found one name.'];
  return env.CONSOLE_URL === undefined
    ? ['CONSOLE_URL must be set when CONSOLE_TRUSTED_PROXIES is: the address at which people reach the proxy.']
    : [];
}

function describe(issue: z.core.$ZodIssue, given: Readonly<Record<string, string>>): string {
  const name = String(issue.path[0] ?? 'environment');
  return `${name} ${issue.message}; found ${shown(name, given[name] ?? '')}.`;
}

function shown(name: string, value: string): string {
  // An address may carry user:password even where none belongs.
  const hidden = (SECRET_VARIABLES as readonly string[]).includes(name) || value.includes('@');
  return hidden ? `a value of ${value.length} characters, not shown` : JSON.stringify(value);
}

function invalid(problems: readonly string[]): LoteError {
  return new LoteError('configuration-invalid', `Reading the configuration: ${problems.join('\n')}`);
}
