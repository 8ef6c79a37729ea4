import { pino, type DestinationStream, type Level } from 'pino';
import { createRepeatedLines } from './repeated-lines.ts';

export type LogFields = Readonly<Record<string, unknown>>;

/** Messages are static text, facts are fields: so logs group. No personal data in either. Warnings and errors that repeat are counted. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Values that never appear in a line, wherever they stand. */
  readonly secrets: readonly string[];
  /** Standard error when left out: standard output belongs to `--json`. */
  readonly destination?: DestinationStream;
}

/** Bytes of log lines that wait for a disk with room. */
const MOST_WAITING = 1_048_576;

const REDACTED = '[redacted]';

/** Fields that hold a secret by their name, at the top and one level down. */
const SECRET_FIELDS = [
  'authorization',
  'Authorization',
  'apiKey',
  'api_key',
  'secret',
  'secrets',
  'password',
  'token',
  'body',
  'rawBody',
];

/** A shorter "secret" would blank out ordinary words; nothing this short protects anything. */
const SHORTEST_SECRET = 4;

/** One JSON object a line, on standard error. */
export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? standardError();
  const base = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: REDACTED },
      hooks: { streamWrite: createScrubber(options.secrets) },
    },
    destination,
  );
  const write = (level: Level) => (message: string, fields?: LogFields) => base[level](fields ?? {}, message);
  const repeated = createRepeatedLines();
  const counted = (level: Level) => (message: string, fields?: LogFields) =>
    repeated({ write: write(level), level, message, fields: fields ?? {} });
  return { debug: write('debug'), info: write('info'), warn: counted('warn'), error: counted('error') };
}

/** A closed terminal and a full disk take no lines: the work goes on without them. Lines of a megabyte wait for room, later ones are dropped. */
function standardError(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: MOST_WAITING });
  destination.on('error', () => undefined);
  return destination;
}

/** Error texts of drivers and peers may quote what they were given: every line is searched for the secrets themselves. */
function createScrubber(secrets: readonly string[]): (line: string) => string {
  const needles = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    // As they stand in a JSON line; the longest first, so that a part does not spoil the whole.
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  return (line) => needles.reduce((text, needle) => text.replaceAll(needle, REDACTED), line);
}
