import { pino, type DestinationStream, type Level } from 'pino';
import { errorCode } from '../../platform/error-code.ts';

type LogFields = Readonly<Record<string, unknown>>;
type Write = (message: string, fields?: LogFields) => void;

/** Messages are static text and fields hold the facts, so that lines group. Neither has personal data. Repeated warnings and errors are counted. */
export interface Logger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Values that the logger removes from every line. */
  readonly secrets: readonly string[];
  /** Default: standard error, because standard output belongs to `--json`. */
  readonly destination?: DestinationStream;
}

/** Bytes of log lines that wait for a disk with room. */
const MOST_WAITING = 1_048_576;

const REDACTED = '[redacted]';

/** Fields whose name marks a secret, at the top and one level down. */
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

/** A shorter "secret" would blank out ordinary words, and protects nothing. */
const SHORTEST_SECRET = 4;

/** Logs one JSON object a line, by default to standard error. */
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
  const write =
    (level: Level): Write =>
    (message, fields = {}) =>
      base[level](fields, message);
  return {
    debug: write('debug'),
    info: write('info'),
    warn: counted(write('warn')),
    error: counted(write('error')),
  };
}

const MINUTE_MS = 60_000;
/** With more kinds, the logger begins to count anew, because its memory must not grow. */
const MOST_KINDS = 500;

/**
 * Writes a line of each kind at most once a minute, with the number of those left out since. A kind is the message with
 * its text fields and the error's code, but without numbers such as attempts.
 */
function counted(write: Write): Write {
  const kinds = new Map<string, { readonly writtenAt: number; repeated: number }>();
  return (message, fields = {}) => {
    const kind = JSON.stringify([message, wordsOf(fields)]);
    const last = kinds.get(kind);
    const now = performance.now();
    if (last !== undefined && now - last.writtenAt < MINUTE_MS) return void (last.repeated += 1);
    const repeated = last?.repeated ?? 0;
    if (kinds.size >= MOST_KINDS) kinds.clear();
    kinds.set(kind, { writtenAt: now, repeated: 0 });
    write(message, repeated > 0 ? { ...fields, repeated } : fields);
  };
}

function wordsOf(fields: LogFields): Readonly<Record<string, string>> {
  const words: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') words[name] = value;
    else if (value instanceof Error) words[`${name}Kind`] = errorCode(value) || value.name;
  }
  return words;
}

/** Work goes on when a closed terminal or a full disk takes no lines. Up to a megabyte of lines waits for room; later lines are dropped. */
function standardError(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: MOST_WAITING });
  destination.on('error', () => undefined);
  return destination;
}

/** Error texts of drivers and peers may quote their input, so every line is searched for the secrets themselves. */
function createScrubber(secrets: readonly string[]): (line: string) => string {
  const needles = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    // As JSON writes them. The longest come first, so that replacing a part does not leave the rest.
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  return (line) => needles.reduce((text, needle) => text.replaceAll(needle, REDACTED), line);
}
