import ms from 'ms';
import { z } from 'zod';
import { databaseUrlTrouble } from './database-url.ts';
import { envLanguage, envMailFrom, envMailTo, envMessageSecret, envSmtpUrl } from './message-config.ts';
import { EnvCommand } from './env-command.ts';
import { secretList } from './secret-list.ts';
import { EnvAddressList, EnvIdentityHeader, EnvNameList } from './sign-in-settings.ts';

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function isPlainHttp(url: URL): boolean {
  return ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '' && url.hash === '';
}

/** The service's address: paths are appended to it, so it has no query and no slash at its end. */
export const EnvBaseUrl = z.string().transform((text, context): string => {
  const url = parseUrl(text);
  if (url !== null && isPlainHttp(url) && url.search === '') return url.href.replace(/\/+$/, '');
  context.addIssue({ code: 'custom', message: 'must be an http or https address without user, query or fragment' });
  return z.NEVER;
});

/** The address registered for webhooks, used as it is: HTTPS says the interface, section 2; plain HTTP only within this machine. */
const EnvWebhookUrl = z.string().refine(
  (text) => {
    const url = parseUrl(text);
    return url !== null && isPlainHttp(url) && (url.protocol === 'https:' || LOOPBACK_HOSTS.has(url.hostname));
  },
  { message: 'must be an https address (http only on loopback) without user or fragment' },
);

/** A PostgreSQL address; it may carry a password, so it is never shown. */
const EnvDatabaseUrl = z.string().superRefine((text, context) => {
  const message = databaseUrlTrouble(text);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

/** Longer ones do not fit into a Node timer, which would then fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A bare number is refused: `15` would be 15 ms, where minutes are meant. */
const WITH_UNIT = /^\d+(\.\d+)?\s*[a-z]+$/i;

function envDuration(longestMs: number, longest: string) {
  return z.string().transform((text, context): number => {
    const value = WITH_UNIT.test(text) ? ms(text as ms.StringValue) : Number.NaN;
    if (Number.isFinite(value) && value >= 1 && value <= longestMs) return Math.round(value);
    context.addIssue({
      code: 'custom',
      message: `must be a duration with a unit, such as 1500ms, 90s, 15m or 12h, of ${longest} at most`,
    });
    return z.NEVER;
  });
}

/** A duration of the environment, in `ms` syntax with a unit, as whole milliseconds. */
export const EnvDuration = envDuration(LONGEST_TIMER_MS, '24 days');

/** One that no timer waits for. */
const EnvLongDuration = envDuration(ms('10y'), '10 years');

const PERCENT = /^(\d{1,3}(?:\.\d+)?)\s*%$/;

/** A share of the environment, written `50%`, as a fraction from 0 to 1. */
const EnvPercent = z.string().transform((text, context): number => {
  const percent = Number(PERCENT.exec(text)?.[1] ?? Number.NaN);
  if (percent >= 0 && percent <= 100) return percent / 100;
  context.addIssue({ code: 'custom', message: 'must be a percentage from 0% to 100%' });
  return z.NEVER;
});

/** A path printed by `JSON.stringify` never holds one; as a file name it would be cut there by the system. */
const NO_CONTROL_CHARACTERS = /^[^\p{Cc}]+$/u;

/** Name of an application: part of workflow ids, keys and folder names, so nothing that needs quoting anywhere. */
export const EnvApplication = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, {
  message: 'must be 1 to 40 of a-z, 0-9, - and _, beginning with a letter or digit',
});

/** Invoices of a page. Each page costs a workflow; a signal about a page above the upper bound would be too large. */
const SMALLEST_PAGE = 1;
const LARGEST_PAGE = 20_000;

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const text = z.string().regex(NO_CONTROL_CHARACTERS, { message: 'must hold no control characters' });

const host = z.string().regex(/^[A-Za-z0-9.:_-]+$/, { message: 'must be a host name or an IP address' });

const port = z
  .string()
  .regex(/^\d{1,5}$/, { message: 'must be a port number from 0 to 65535' })
  .transform(Number)
  .refine((number) => number <= 65_535, { message: 'must be a port number from 0 to 65535' });

const flag = z
  .enum(['true', 'false', '1', '0'], { message: 'must be true or false' })
  .transform((word) => word === 'true' || word === '1');

const secret = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { message: 'must be printable ASCII without spaces: it is sent in a header' });

const pageSize = z
  .string()
  .regex(/^\d{1,6}$/, { message: `must be a whole number from ${SMALLEST_PAGE} to ${LARGEST_PAGE}` })
  .transform(Number)
  .refine((number) => number >= SMALLEST_PAGE && number <= LARGEST_PAGE, {
    message: `must be a whole number from ${SMALLEST_PAGE} to ${LARGEST_PAGE}`,
  });

/** Twice is an ordinary busy night; a thousand is no check any more. */
const SMALLEST_FACTOR = 1.5;
const LARGEST_FACTOR = 1_000;
const FACTOR_MESSAGE = `must be a number from ${SMALLEST_FACTOR} to ${LARGEST_FACTOR}, or off`;

const totalFactor = z.union(
  [
    z.literal('off').transform(() => null),
    z
      .string()
      .regex(/^\d{1,4}(?:\.\d{1,3})?$/)
      .transform(Number)
      .refine((factor) => factor >= SMALLEST_FACTOR && factor <= LARGEST_FACTOR, { message: FACTOR_MESSAGE }),
  ],
  { message: FACTOR_MESSAGE },
);

const envSecretList = z.string().transform((list, context): readonly string[] => {
  const secrets = secretList(list);
  if (secrets !== null) return secrets;
  context.addIssue({
    code: 'custom',
    message: 'must be one secret, or several with commas between, newest first, none of them empty',
  });
  return z.NEVER;
});

/** Every variable of Lote with its default; names are the contract with the outside. */
export const EnvSchema = z.object({
  INVOICING_BASE_URL: EnvBaseUrl.optional(),
  INVOICING_API_KEY: secret.optional(),
  WEBHOOK_SECRET: envSecretList.optional(),
  WEBHOOK_SECRET_GRACE: EnvLongDuration.prefault('90d'),
  WEBHOOK_URL: EnvWebhookUrl.optional(),
  RECEIVER_HOST: host.default('127.0.0.1'),
  RECEIVER_PORT: port.optional(),
  HEALTH_HOST: host.default('127.0.0.1'),
  HEALTH_PORT: z
    .union([z.literal('none'), port], { message: 'must be a port number from 0 to 65535, or none' })
    .optional(),
  METRICS_HOST: host.default('127.0.0.1'),
  METRICS_PORT: port.optional(),
  CONSOLE_HOST: host.default('127.0.0.1'),
  CONSOLE_PORT: port.optional(),
  CONSOLE_TOKEN: secret.optional(),
  CONSOLE_URL: EnvBaseUrl.optional(),
  CONSOLE_TRUSTED_PROXIES: EnvAddressList.optional(),
  CONSOLE_USER_HEADER: EnvIdentityHeader.default('X-Forwarded-User'),
  CONSOLE_GROUPS_HEADER: EnvIdentityHeader.default('X-Forwarded-Groups'),
  CONSOLE_OPERATORS: EnvNameList.optional(),
  CONSOLE_OPERATOR_GROUPS: EnvNameList.optional(),
  SANDBOX_HOST: host.default('127.0.0.1'),
  SANDBOX_PORT: port.optional(),
  SANDBOX_PROFILE: text.optional(),
  DATABASE_URL: EnvDatabaseUrl.optional(),
  PGHOST: text.optional(),
  PGPORT: text.optional(),
  PGUSER: text.optional(),
  PGPASSWORD: z.string().optional(),
  PGDATABASE: text.optional(),
  TEMPORAL_ADDRESS: text.regex(/^[^\s/]+$/, { message: 'must be of the form host:port, without http://' }).optional(),
  TEMPORAL_NAMESPACE: text.default('default'),
  TEMPORAL_API_KEY: secret.optional(),
  TEMPORAL_TLS: flag.optional(),
  TEMPORAL_TLS_SERVER_NAME: host.optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: text.optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: text.optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: text.optional(),
  TEMPORAL_UI_URL: EnvBaseUrl.optional(),
  TEMPORAL_PROFILE: text.optional(),
  TEMPORAL_CONFIG_FILE: text.optional(),
  LOTE_TASK_QUEUE: text.default('lote'),
  SERVICE_PROFILE: text.optional(),
  LOTE_CAPTURE: text.optional(),
  LOTE_DATA_DIR: text.default('.lote'),
  LOTE_INPUT_DIR: text.default('input'),
  LOTE_REPORTS_DIR: text.default('reports'),
  LOTE_APPLICATION: EnvApplication.default('default'),
  LOTE_APPLICATIONS_DIR: text.default('applications'),
  LOTE_ON_REPORT: EnvCommand.optional(),
  LOTE_LANGUAGE: envLanguage.default('en'),
  LOTE_SMTP_URL: envSmtpUrl.optional(),
  LOTE_SMTP_USER: text.optional(),
  LOTE_SMTP_PASSWORD: z.string().optional(),
  LOTE_SMTP_TLS: z.enum(['required', 'none'], { message: 'must be required or none' }).default('required'),
  LOTE_SMTP_CA_CERT_PATH: text.optional(),
  LOTE_MAIL_FROM: envMailFrom.optional(),
  LOTE_MAIL_TO: envMailTo.optional(),
  LOTE_MESSAGE_URL: EnvWebhookUrl.optional(),
  LOTE_MESSAGE_SECRET: envMessageSecret.optional(),
  LOTE_DROP_STABLE_FOR: EnvDuration.prefault('10s'),
  LOTE_DROP_PATIENCE: EnvDuration.prefault('10m'),
  LOTE_DROP_MARKER: z.enum(['none', 'done'], { message: 'must be none or done' }).default('none'),
  LOTE_SETTLE_TIMEOUT: EnvDuration.prefault('15m'),
  LOTE_SEND_TIMEOUT: EnvDuration.prefault('30m'),
  LOTE_OUTAGE_PATIENCE: EnvDuration.prefault('12h'),
  LOTE_FAILURE_BUDGET: EnvPercent.prefault('50%'),
  LOTE_TOTAL_FACTOR: totalFactor.prefault('5'),
  LOTE_PAGE_SIZE: pageSize.prefault('2000'),
  /** For tests of crash safety only; refused with a key that is not a test key. */
  LOTE_CRASH_AT: text.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: EnvBaseUrl.optional(),
  /** Read by the exporter itself; here so that the log hides it. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  LOTE_TRACE_SHARE: EnvPercent.prefault('1%'),
  LOTE_LOG_LEVEL: z.enum(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
});

export { secret as EnvSecret, text as EnvText };

/** The environment after parsing: defaults applied, units converted. */
export type Env = z.infer<typeof EnvSchema>;
