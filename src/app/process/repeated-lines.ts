type LogFields = Readonly<Record<string, unknown>>;
type Write = (message: string, fields: LogFields) => void;

const MINUTE_MS = 60_000;
/** More kinds of trouble at once than this are each written in full: what is remembered must not grow. */
const MOST_KINDS = 500;

interface Kind {
  readonly write: Write;
  readonly message: string;
  readonly fields: LogFields;
  count: number;
}

/**
 * Lines that repeat: the first of a kind is written at once, the others are counted, and each minute one line says how many there were. A kind is
 * the message with its words: text fields and the error's code, but not numbers such as attempts.
 */
export function createRepeatedLines(
  windowMs: number = MINUTE_MS,
): (line: {
  readonly write: Write;
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}) => void {
  const kinds = new Map<string, Kind>();

  function summarize(key: string, kind: Kind): void {
    if (kind.count === 0) {
      kinds.delete(key);
      return;
    }
    kind.write(kind.message, { ...kind.fields, repeated: kind.count, withinSeconds: Math.round(windowMs / 1_000) });
    kind.count = 0;
    wait(key, kind);
  }

  function wait(key: string, kind: Kind): void {
    setTimeout(() => summarize(key, kind), windowMs).unref();
  }

  return ({ write, level, message, fields }) => {
    const words = wordsOf(fields);
    const key = JSON.stringify([level, message, words]);
    const known = kinds.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    write(message, fields);
    if (kinds.size >= MOST_KINDS) return;
    const kind = { write, message, fields: words, count: 0 };
    kinds.set(key, kind);
    wait(key, kind);
  };
}

function wordsOf(fields: LogFields): Readonly<Record<string, string>> {
  const words: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') words[name] = value;
    else if (value instanceof Error) words[`${name}Kind`] = kindOf(value);
  }
  return words;
}

function kindOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
