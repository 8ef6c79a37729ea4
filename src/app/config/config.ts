import { resolve } from 'node:path';
import { closest } from 'fastest-levenshtein';
import type { z } from 'zod';
import { decoded, EnvSchema, LOOPBACK_HOSTS, parseDatabaseUrl, smtpUrl, type Env } from './env-schema.ts';
import {
  invalid,
  readTemporalProfile,
  resolveSecretFiles,
  SECRET_VARIABLES,
  type Environment,
  type TemporalProfile,
} from './environment.ts';

/** Where to listen; port 0 means any free port. */
export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  /** True if the environment sets the port; a default port may give way to the next free one. */
  readonly explicit: boolean;
  /** Variable `…_PORT` that an error names when the port is taken. */
  readonly variable: string;
}

export type ServiceConfig =
  | { readonly kind: 'sandbox' }
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly apiKey: string };

/** All settings of the environment: times in milliseconds, absolute paths, and the budget as a fraction. */
export type Config = ReturnType<typeof toConfig>;

/** Settings of Temporal. */
export type TemporalConfig = Config['temporal'];

/** Sign-in by a reverse proxy. Addresses are IP addresses or networks (CIDR); names and groups are as the proxy sends. */
export type SignInConfig = NonNullable<Config['console']['signIn']>;

/** How a process uses the service: `nothing` needs no key and can still show the address. */
export type UseOfService = 'requests' | 'nothing';

/**
 * Reads the environment. One error names every wrong setting, and never contains a secret.
 * @throws LoteError `configuration-invalid`
 */
export function readConfig(
  environment: Environment,
  workingDirectory: string = process.cwd(),
  use: UseOfService = 'requests',
): Config {
  const set = resolveSecretFiles(environment);
  const profile = readTemporalProfile(set);
  const { address = set['TEMPORAL_ADDRESS'], namespace = set['TEMPORAL_NAMESPACE'] } = profile;
  const given = { ...set, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const parsed = EnvSchema.safeParse(given);
  const wrong = [
    ...unknownNames(given),
    ...(parsed.error?.issues ?? []).map((issue) => describe(issue, given)),
    ...(parsed.success ? findContradictions(parsed.data, use) : []),
  ];
  if (!parsed.success || wrong.length > 0) throw invalid(wrong.join('\n'));
  const config = toConfig(parsed.data, workingDirectory, { given, profile });
  // A night would take the files in the reports folder for dropped files.
  if (config.inputDir === config.reportsDir)
    throw invalid(`LOTE_INPUT_DIR and LOTE_REPORTS_DIR must be two folders; found ${config.inputDir} for both.`);
  return config;
}

interface ReadSettings {
  /** Names the secret files, some of which Lote reads again. */
  readonly given: Environment;
  readonly profile: TemporalProfile;
}

/** A night waits this many times LOTE_DROP_STABLE_FOR for a file that still changes. */
const DROP_PATIENCE = 60;

function toConfig(env: Env, workingDirectory: string, { given, profile }: ReadSettings) {
  const databaseUrl = databaseUrlOf(env, given);
  const path = (relative: string): string => resolve(workingDirectory, relative);
  return {
    service: toService(env),
    /** INVOICING_BASE_URL, also without a key (console); null means the built-in sandbox. */
    serviceBaseUrl: env.INVOICING_BASE_URL ?? null,
    /** Null means the built-in service profile. */
    serviceProfilePath: env.SERVICE_PROFILE === undefined ? null : path(env.SERVICE_PROFILE),
    webhook: { secrets: env.WEBHOOK_SECRET ?? [], url: env.WEBHOOK_URL ?? null },
    receiver: toListen(env.RECEIVER_HOST, env.RECEIVER_PORT, { port: 8090, variable: 'RECEIVER_PORT' }),
    /** Health address of a worker, which listens for nothing else; null means none. */
    health:
      env.HEALTH_PORT === 'none'
        ? null
        : toListen(env.HEALTH_HOST, env.HEALTH_PORT, { port: 8093, variable: 'HEALTH_PORT' }),
    /** Where the process serves its metrics; null disables metrics. */
    metrics:
      env.METRICS_PORT === undefined
        ? null
        : toListen(env.HEALTH_HOST, env.METRICS_PORT, { port: 0, variable: 'METRICS_PORT' }),
    /** OTLP collector over HTTP; null disables traces. */
    traces: env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined ? null : { endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT },
    console: {
      ...toListen(env.CONSOLE_HOST, env.CONSOLE_PORT, { port: 8091, variable: 'CONSOLE_PORT' }),
      token: env.CONSOLE_TOKEN ?? null,
      /** Address for links to the console; null means the address where this process serves it, if any. */
      publicUrl: env.CONSOLE_URL ?? null,
      /** Null means that every person who reaches the console may act, without a name. */
      signIn: toSignIn(env),
    },
    sandbox: toListen('127.0.0.1', env.SANDBOX_PORT, { port: 8092, variable: 'SANDBOX_PORT' }),
    /** Null means the embedded ledger under the data directory. */
    databaseUrl,
    temporal: {
      /** Null means Lote's own embedded server. */
      address: env.TEMPORAL_ADDRESS ?? null,
      namespace: env.TEMPORAL_NAMESPACE,
      /** TLS and API key, as Temporal's own environment configuration reads them. */
      profile,
      /** UI of a configured server; the embedded server knows its own. */
      uiUrl: env.TEMPORAL_UI_URL ?? null,
    },
    taskQueue: env.LOTE_TASK_QUEUE,
    dataDir: path(env.LOTE_DATA_DIR),
    inputDir: path(env.LOTE_INPUT_DIR),
    reportsDir: path(env.LOTE_REPORTS_DIR),
    application: env.LOTE_APPLICATION,
    /** Program that Lote runs for each report, with its first arguments; null means none. */
    onReport: env.LOTE_ON_REPORT ?? null,
    /** Language of texts for people, such as `pt` or `pt-BR`. */
    language: env.LOTE_LANGUAGE,
    /** Null means that Lote does not send the message of a night. */
    mail: mailConfig(env),
    /** A dropped file that is unchanged for `stableMs` is complete; a night waits `patienceMs` for files that still change. */
    drop: { stableMs: env.LOTE_DROP_STABLE_FOR, patienceMs: env.LOTE_DROP_STABLE_FOR * DROP_PATIENCE },
    settleTimeoutMs: env.LOTE_SETTLE_TIMEOUT,
    sendTimeoutMs: env.LOTE_SEND_TIMEOUT,
    outagePatienceMs: env.LOTE_OUTAGE_PATIENCE,
    failureBudget: env.LOTE_FAILURE_BUDGET,
    /** How many times a file's total may differ from earlier ones of its pattern before Lote holds it; null: no limit. */
    totalFactor: env.LOTE_TOTAL_FACTOR,
    pageSize: env.LOTE_PAGE_SIZE,
    logLevel: env.LOTE_LOG_LEVEL,
    /** Every value that the logger must redact. */
    secrets: secretsOf(env, { databaseUrl, given, profile }),
  };
}

function toService(env: Env): ServiceConfig {
  const { INVOICING_BASE_URL: baseUrl, INVOICING_API_KEY: apiKey } = env;
  return baseUrl === undefined || apiKey === undefined ? { kind: 'sandbox' } : { kind: 'remote', baseUrl, apiKey };
}

function toListen(host: string, port: number | undefined, fallback: { port: number; variable: string }): ListenConfig {
  return { host, port: port ?? fallback.port, explicit: port !== undefined, variable: fallback.variable };
}

/** How Lote sends the message of a night. `implicit`: TLS from the first byte; `starttls`: the server must offer it; `none`: a server on this machine. */
export type MailConfig = NonNullable<ReturnType<typeof mailConfig>>;

function tlsOf(protocol: string, hostname: string): 'implicit' | 'starttls' | 'none' {
  if (protocol === 'smtps:') return 'implicit';
  return LOOPBACK_HOSTS.has(hostname) ? 'none' : 'starttls';
}

/** Ports of submission: RFC 8314 for `smtps`, RFC 6409 for `smtp`. */
const PORTS = { 'smtps:': 465, 'smtp:': 587 } as const;

/** Returns how Lote sends the message of a night, or null if it sends none. */
function mailConfig(env: Env) {
  const url = smtpUrl(env.LOTE_SMTP_URL ?? '');
  const { LOTE_MAIL_FROM: from, LOTE_MAIL_TO: to, LOTE_SMTP_USER: user, LOTE_SMTP_PASSWORD: password } = env;
  if (url === null || from === undefined || to === undefined) return null;
  const protocol = url.protocol === 'smtps:' ? 'smtps:' : 'smtp:';
  return {
    host: url.hostname.replace(/^\[|\]$/gu, ''),
    port: url.port === '' ? PORTS[protocol] : Number(url.port),
    tls: tlsOf(protocol, url.hostname),
    auth: user === undefined || password === undefined ? null : { user, password },
    ...{ from, to },
  };
}

/**
 * Adds PGPASSWORD, or the content of its file, to an address without password. node-postgres reads the other PG… variables.
 */
function databaseUrlOf({ DATABASE_URL: url }: Env, { PGPASSWORD: password }: Environment): string | null {
  if (url === undefined) return null;
  const address = parseDatabaseUrl(url);
  const hasPassword = address === null || address.password !== '' || address.searchParams.has('password');
  if (password === undefined || hasPassword) return url;
  return `${url}${address.search === '' ? '?' : '&'}password=${encodeURIComponent(password)}`;
}

/** Trusted proxies switch sign-in on; `findContradictions` has checked the rest. */
function toSignIn(env: Env) {
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

/** Includes the password of the database address, because drivers print it without the rest. */
function secretsOf(
  env: Env,
  { databaseUrl, given, profile }: ReadSettings & { readonly databaseUrl: string | null },
): readonly string[] {
  const address = parseDatabaseUrl(databaseUrl ?? '');
  const password = address?.password ?? '';
  const all = [
    env.INVOICING_API_KEY,
    ...(env.WEBHOOK_SECRET ?? []),
    env.DATABASE_URL,
    databaseUrl ?? undefined,
    password,
    decoded(password) ?? undefined,
    ...(address?.searchParams.getAll('password') ?? []),
    given['PGPASSWORD'],
    profile.apiKey,
    env.CONSOLE_TOKEN,
    env.LOTE_SMTP_PASSWORD,
    ...otlpSecrets(given['OTEL_EXPORTER_OTLP_HEADERS'] ?? ''),
  ];
  return [...new Set(all.filter((secret): secret is string => secret !== undefined && secret !== ''))];
}

/** Secrets in OTEL_EXPORTER_OTLP_HEADERS: the whole text, each value raw and decoded, and a token after its scheme. */
function otlpSecrets(headers: string): readonly string[] {
  const values = headers.split(',').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
  const plain = values.map((value) => (decoded(value) ?? value).trim());
  return [headers, ...values, ...plain, ...plain.map((value) => value.split(/\s+/).at(-1) ?? '')];
}

/** Returns a sentence for each contradiction between settings. */
function findContradictions(env: Env, use: UseOfService): readonly string[] {
  const has = (name: keyof Env): boolean => env[name] !== undefined;
  const found: string[] = [];
  const refuse = (isWrong: boolean, says: string): void => void (isWrong && found.push(says));
  refuse(
    new Set([has('LOTE_SMTP_URL'), has('LOTE_MAIL_FROM'), has('LOTE_MAIL_TO')]).size > 1,
    'LOTE_SMTP_URL, LOTE_MAIL_FROM and LOTE_MAIL_TO must be set together; some are missing.',
  );
  refuse(
    has('LOTE_SMTP_USER') !== has('LOTE_SMTP_PASSWORD'),
    'LOTE_SMTP_USER and LOTE_SMTP_PASSWORD (or LOTE_SMTP_PASSWORD_FILE) must be set together; found one of them.',
  );
  // With a fallback to the sandbox, Lote would report invoices as issued that were never issued.
  refuse(
    has('INVOICING_API_KEY') && !has('INVOICING_BASE_URL'),
    'INVOICING_BASE_URL must be set when INVOICING_API_KEY is; found only the key. Unset both for the built-in sandbox.',
  );
  refuse(
    use === 'requests' && has('INVOICING_BASE_URL') && !has('INVOICING_API_KEY'),
    'INVOICING_API_KEY (or INVOICING_API_KEY_FILE) must be set when INVOICING_BASE_URL is; found only the address.',
  );
  const isSignInOn = has('CONSOLE_TRUSTED_PROXIES');
  // A person who names operators expects that other people may not act.
  refuse(
    !isSignInOn && (has('CONSOLE_OPERATORS') || has('CONSOLE_OPERATOR_GROUPS')),
    'CONSOLE_TRUSTED_PROXIES must be set when CONSOLE_OPERATORS or CONSOLE_OPERATOR_GROUPS is; found only these: without it no person is signed in, and every caller could act.',
  );
  refuse(
    isSignInOn && env.CONSOLE_USER_HEADER.toLowerCase() === env.CONSOLE_GROUPS_HEADER.toLowerCase(),
    'CONSOLE_USER_HEADER and CONSOLE_GROUPS_HEADER must be two headers; found one name.',
  );
  refuse(
    isSignInOn && !has('CONSOLE_URL'),
    'CONSOLE_URL must be set when CONSOLE_TRUSTED_PROXIES is: the address at which people reach the proxy.',
  );
  return found;
}

/** LOTE_ names for the program of LOTE_ON_REPORT, for Compose, and for Lote's own tests. */
const NO_SETTINGS = /^LOTE_(?:REPORT_|TEST_|USER_ID$|GROUP_ID$)/u;

/** Reports unknown LOTE_ names, because Lote would ignore a misspelled setting silently. */
function unknownNames(given: Environment): readonly string[] {
  const known = [...Object.keys(EnvSchema.shape), ...SECRET_VARIABLES.map((name) => `${name}_FILE`)];
  const own = known.filter((name) => name.startsWith('LOTE_'));
  return Object.keys(given)
    .filter((name) => name.startsWith('LOTE_') && !own.includes(name) && !NO_SETTINGS.test(name))
    .map((name) => `${name} is no setting of Lote; the nearest one is ${closest(name, own)} (docs/configuration.md).`);
}

function describe(issue: z.core.$ZodIssue, given: Environment): string {
  const name = String(issue.path[0] ?? 'environment');
  return `${name} ${issue.message}; found ${shown(name, given[name] ?? '')}.`;
}

function shown(name: string, value: string): string {
  // Any address may contain user:password, even where none is allowed.
  const hidden = (SECRET_VARIABLES as readonly string[]).includes(name) || value.includes('@');
  return hidden ? `a value of ${value.length} characters, not shown` : JSON.stringify(value);
}
