/** A JSON number exactly as it was written: no float has touched it. */
class NumberToken {
  readonly token: string;

  constructor(token: string) {
    this.token = token;
  }
}

/** No client writes it into a text: it marks the numbers while JSON.parse works. */
const MARK = '\u0000number:';
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON with each number as a NumberToken. @throws SyntaxError when it is no JSON. */
function parseTokens(text: string): unknown {
  JSON.parse(text);
  const marked = text.replaceAll(STRING_OR_NUMBER, (found) =>
    found.startsWith('"') ? found : JSON.stringify(MARK + found),
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? new NumberToken(value.slice(MARK.length)) : value,
  ) as unknown;
}

/** What a shape has found in a body, by the name that the shape gives it. */
export type Found = Record<string, unknown>;

/** Looks at one value of a body, notes what it finds, and says as a phrase what is wrong; null: nothing. */
export type Shape = (value: unknown, found: Found) => string | null;

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/** A text, noted under a name. */
export function text(name: string): Shape {
  return (value, found) => {
    if (typeof value !== 'string') return `${name} must be a text`;
    found[name] = value;
    return null;
  };
}

/** A number, noted as the token that was written. */
export function number(name: string): Shape {
  return (value, found) => {
    if (!(value instanceof NumberToken)) return `${name} must be a number`;
    if (!DECIMAL.test(value.token)) return `${name} must be a plain decimal, found ${value.token}`;
    found[name] = value.token;
    return null;
  };
}

/** A number that is written as a text. */
export function numberText(name: string): Shape {
  return (value, found) => {
    if (typeof value !== 'string' || !DECIMAL.test(value)) return `${name} must be a decimal as a text`;
    found[name] = value;
    return null;
  };
}

/** Always this text, number or true/false. */
export function constant(expected: string | number | boolean): Shape {
  return (value) => {
    const seen: unknown = value instanceof NumberToken ? Number(value.token) : value;
    return seen === expected ? null : `must be ${JSON.stringify(expected)}`;
  };
}

/** An object with exactly these members; those named optional may be left out. */
export function object(members: Readonly<Record<string, Shape>>, optional: readonly string[] = []): Shape {
  return (value, found) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof NumberToken)
      return 'must be an object';
    const given = new Map<string, unknown>(Object.entries(value));
    const stranger = [...given.keys()].find((key) => !Object.hasOwn(members, key));
    if (stranger !== undefined) return `no member ${stranger} is known`;
    for (const [key, shape] of Object.entries(members)) {
      if (!given.has(key) && optional.includes(key)) continue;
      if (!given.has(key)) return `${key} is missing`;
      const mistake = shape(given.get(key), found);
      if (mistake !== null) return `${key}: ${mistake}`;
    }
    return null;
  };
}

/** A list of at least one, whose items are noted under a name. */
export function list(name: string, item: Shape): Shape {
  return (value, found) => {
    if (!Array.isArray(value) || value.length === 0) return `${name} must be a list`;
    const items: Found[] = [];
    for (const one of value as readonly unknown[]) {
      const foundInItem: Found = {};
      const mistake = item(one, foundInItem);
      if (mistake !== null) return `${name}: ${mistake}`;
      items.push(foundInItem);
    }
    found[name] = items;
    return null;
  };
}

/** Reads the bytes of a request; a text is a mistake as a phrase. */
export function readBody(raw: string, shape: Shape): Found | string {
  let body: unknown;
  try {
    body = parseTokens(raw);
  } catch {
    return 'the body must be JSON';
  }
  const found: Found = {};
  return shape(body, found) ?? found;
}
