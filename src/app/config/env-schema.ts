import { isIP } from 'node:net';
import ms from 'ms';
import { z } from 'zod';

/** A variable that `read` converts. If `read` returns undefined, the error states the `rule`. */
function variable<T>(rule: string, read: (text: string) => T | undefined) {
  return z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: rule });
    return z.NEVER;
  });
}

/** A variable that is kept unchanged if it `fits`. */
function textThat(rule: string, fits: RegExp | ((text: string) => boolean)) {
  const isRight = typeof fits === 'function' ? fits : (text: string) => fits.test(text);
  return z.string().refine(isRight, { message: rule });
}

/** A list of parts separated by commas; no part is empty, and each part `fits`. */
function list(rule: string, fits: (part: string) => boolean, most = Number.MAX_SAFE_INTEGER) {
  return variable(rule, (text): readonly string[] | undefined => {
    const parts = text.split(',').map((part) => part.trim());
    return parts.length <= most && parts.every((part) => part !== '' && fits(part)) ? parts : undefined;
  });
}

function numberFrom(least: number, most: number, form: RegExp, rule: string) {
  return variable(rule, (text) => {
    const number = form.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : undefined;
  });
}

/** Milliseconds of a duration in `ms` syntax. A bare number is NaN, because `15` would be 15 ms where minutes are meant. */
export function durationMs(text: string): number {
  return /^\d+(\.\d+)?\s*[a-z]+$/i.test(text) ? Math.round(ms(text as ms.StringValue)) : Number.NaN;
}

/** Hosts of this machine, as `URL` writes them. */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

function httpUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
  return isPlain && ['http:', 'https:'].includes(url.protocol) ? url : null;
}

/** Address of a mail server, or null. Credentials are refused, because Lote shows addresses. */
export function smtpUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^smtps?:\/\/[^/?#@]+\/?$/i.test(url.href) ? url : null;
}

/** Lote appends paths to this address, so it has no query and no slash at its end. */
const baseUrl = variable('must be an http or https address without user, query or fragment', (text) => {
  const url = httpUrl(text);
  return url?.search === '' ? url.href.replace(/\/+$/, '') : undefined;
});

/** Lote registers this address as it is; section 2 of the interface requires HTTPS. */
const webhookUrl = textThat('must be an https address (http only on loopback) without user or fragment', (text) => {
  const url = httpUrl(text);
  return url !== null && (url.protocol === 'https:' || LOOPBACK_HOSTS.has(url.hostname));
});

/** Parts of an address that libpq reads and the driver does not: they would lead to another server or database. */
const NOT_READ = ['hostaddr', 'service', 'dbname', 'database'];

/** Parses a DATABASE_URL. Returns null if it has not the form of one. */
export function parseDatabaseUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) return null;
  const parts = [url.username, url.password, url.hostname, url.pathname];
  return parts.every((part) => decoded(part) !== null) ? url : null;
}

/** Returns a decoded part of an address, or null if it cannot be decoded. */
export function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

const DATABASE_FORM =
  'must be an address of the form postgresql://user:password@host:5432/database, with % written as %25; the folder of a socket stands as its host, with / written as %2F, or in ?host=';

/** Returns the rule that a DATABASE_URL breaks, or null. */
function databaseUrlTrouble(text: string): string | null {
  const url = parseDatabaseUrl(text);
  if (url === null) return DATABASE_FORM;
  const hosts = [url.hostname, url.searchParams.get('host') ?? ''];
  if (hosts.some((host) => host.includes(','))) return 'must name one host, because Lote tries no list of hosts';
  const other = NOT_READ.find((name) => url.searchParams.get(name));
  return other === undefined ? null : `must name its server as …host/database, because ?${other}= is not read`;
}

const databaseUrl = z.string().superRefine((text, context) => {
  const message = databaseUrlTrouble(text);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

/** A longer time does not fit into a Node timer, which would then fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const duration = variable(
  'must be a duration with a unit, such as 1500ms, 90s, 15m or 12h, of 24 days at most',
  (text) => {
    const value = durationMs(text);
    return value >= 1 && value <= LONGEST_TIMER_MS ? value : undefined;
  },
);

/** A fraction from 0 to 1. */
const percent = variable('must be a percentage from 0% to 100%', (text) => {
  const value = Number(/^(\d{1,3}(?:\.\d+)?)\s*%$/.exec(text)?.[1] ?? Number.NaN);
  return value >= 0 && value <= 100 ? value / 100 : undefined;
});

/** The system would cut a file name at a control character. */
const text = textThat('must hold no control characters', /^[^\p{Cc}]+$/u);
const host = textThat('must be a host name or an IP address', /^[A-Za-z0-9.:_-]+$/);
const port = numberFrom(0, 65_535, /^\d{1,5}$/, 'must be a port number from 0 to 65535');
const secret = textThat('must be printable ASCII without spaces: it is sent in a header', /^[\x21-\x7e]+$/);
/** With more invoices, the signal about a page would be too large. */
const pageSize = numberFrom(1, 20_000, /^\d{1,6}$/, 'must be a whole number from 1 to 20000');
/** A factor of two is an ordinary busy night; a factor above a thousand checks nothing. */
const FACTOR_RULE = 'must be a number from 1.5 to 1000, or off';
const factor = numberFrom(1.5, 1_000, /^\d{1,4}(?:\.\d{1,3})?$/, FACTOR_RULE);

/** `Name <address>` or an address alone, without characters that could end a header. */
const ADDRESS = /^(?:[^<>\p{Cc},;"]{1,80} )?<?[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}>?$/u;

/** The path of a program, or a JSON array of the program and its first arguments. No shell runs, so no quoting is needed. */
const command = variable(
  'must be the path of a program, or a JSON array such as ["/usr/local/bin/mail-report", "--to", "office"]',
  (line): readonly string[] | undefined => {
    if (!line.trimStart().startsWith('[')) return [line];
    try {
      return z.array(z.string().min(1)).min(1).safeParse(JSON.parse(line)).data;
    } catch {
      return undefined;
    }
  },
);

/** Headers with another meaning: a proxy that named people in one would break the console or its protection. */
const TAKEN_HEADER =
  /^(?:authorization|connection|content-.*|cookie|host|origin|forwarded|x-forwarded-(?:for|host|proto)|x-real-ip|x-lote-.*)$/i;
const identityHeader = textThat(
  'must be the name of a request header (letters, digits and -) that carries nothing else than what a proxy says of the person',
  (name) => /^[A-Za-z0-9-]{1,64}$/.test(name) && !TAKEN_HEADER.test(name),
);
const names = list('must be names with commas between, none of them empty', (name) => !/\p{Cc}/u.test(name));
const addresses = list(
  'must be IP addresses or networks with commas between, none wider than /8, such as 10.0.0.5,10.1.0.0/16,fd00::/8',
  (one) => {
    const [address = '', prefix, more] = one.split('/');
    const family = isIP(address);
    if (family === 0 || more !== undefined) return false;
    // A wider network never belongs to one installation alone.
    return prefix === undefined || (/^\d{1,3}$/.test(prefix) && +prefix >= 8 && +prefix <= (family === 6 ? 128 : 32));
  },
);

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Every variable of Lote with its default. The names are a public contract. */
export const EnvSchema = z.object({
  INVOICING_BASE_URL: baseUrl.optional(),
  INVOICING_API_KEY: secret.optional(),
  /** Newest secret first. */
  WEBHOOK_SECRET: list(
    'must be one secret, or several with commas between, newest first, none of them empty',
    () => true,
  ).optional(),
  WEBHOOK_URL: webhookUrl.optional(),
  RECEIVER_HOST: host.default('127.0.0.1'),
  RECEIVER_PORT: port.optional(),
  HEALTH_HOST: host.default('127.0.0.1'),
  HEALTH_PORT: z
    .union([z.literal('none'), port], { message: 'must be a port number from 0 to 65535, or none' })
    .optional(),
  METRICS_PORT: port.optional(),
  CONSOLE_HOST: host.default('127.0.0.1'),
  CONSOLE_PORT: port.optional(),
  CONSOLE_TOKEN: secret.optional(),
  CONSOLE_URL: baseUrl.optional(),
  CONSOLE_TRUSTED_PROXIES: addresses.optional(),
  CONSOLE_USER_HEADER: identityHeader.default('X-Forwarded-User'),
  CONSOLE_GROUPS_HEADER: identityHeader.default('X-Forwarded-Groups'),
  CONSOLE_OPERATORS: names.optional(),
  CONSOLE_OPERATOR_GROUPS: names.optional(),
  SANDBOX_PORT: port.optional(),
  DATABASE_URL: databaseUrl.optional(),
  TEMPORAL_ADDRESS: textThat('must be of the form host:port, without http://', /^[^\s/\p{Cc}]+$/u).optional(),
  TEMPORAL_NAMESPACE: text.default('default'),
  TEMPORAL_UI_URL: baseUrl.optional(),
  LOTE_TASK_QUEUE: text.default('lote'),
  SERVICE_PROFILE: text.optional(),
  LOTE_DATA_DIR: text.default('.lote'),
  LOTE_INPUT_DIR: text.default('input'),
  LOTE_REPORTS_DIR: text.default('reports'),
  /** Part of workflow ids, keys and folder names, so it has no character that needs quoting. */
  LOTE_APPLICATION: textThat(
    'must be 1 to 40 of a-z, 0-9, - and _, beginning with a letter or digit',
    /^[a-z0-9][a-z0-9_-]{0,39}$/,
  ).default('default'),
  LOTE_ON_REPORT: command.optional(),
  LOTE_LANGUAGE: textThat(
    'must be en, pt or es, with a region such as pt-BR or without',
    /^(?:en|pt|es)(?:-[A-Z]{2})?$/,
  ).default('en'),
  LOTE_SMTP_URL: textThat(
    'must be smtp://host or smtps://host, with a port or without, and without user and password',
    (url) => smtpUrl(url) !== null,
  ).optional(),
  LOTE_SMTP_USER: text.optional(),
  LOTE_SMTP_PASSWORD: z.string().optional(),
  LOTE_MAIL_FROM: textThat('must be an e-mail address, or Name <address>', ADDRESS).optional(),
  LOTE_MAIL_TO: list(
    'must be e-mail addresses with commas between, 20 at most',
    (to) => ADDRESS.test(to),
    20,
  ).optional(),
  LOTE_DROP_STABLE_FOR: duration.prefault('10s'),
  LOTE_SETTLE_TIMEOUT: duration.prefault('15m'),
  LOTE_SEND_TIMEOUT: duration.prefault('30m'),
  LOTE_OUTAGE_PATIENCE: duration.prefault('12h'),
  LOTE_FAILURE_BUDGET: percent.prefault('50%'),
  /** Null means that the total of a file may differ by any factor. */
  LOTE_TOTAL_FACTOR: z.union([z.literal('off').transform(() => null), factor], { message: FACTOR_RULE }).prefault('5'),
  LOTE_PAGE_SIZE: pageSize.prefault('2000'),
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl.optional(),
  LOTE_LOG_LEVEL: z.enum(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
});

/** The environment after parsing: defaults applied, units converted. */
export type Env = z.infer<typeof EnvSchema>;
