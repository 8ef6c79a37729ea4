/** A JSON number exactly as it was written: no float has touched it. */
export class NumberToken {
  readonly token: string;

  constructor(token: string) {
    this.token = token;
  }
}

/** No client writes it into a text: it marks the numbers while JSON.parse works. */
const MARK = '\u0000number:';
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON with each number as a NumberToken. @throws SyntaxError when it is no JSON. */
export function parseTokens(text: string): unknown {
  JSON.parse(text);
  const marked = text.replaceAll(STRING_OR_NUMBER, (found) =>
    found.startsWith('"') ? found : JSON.stringify(MARK + found),
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? new NumberToken(value.slice(MARK.length)) : value,
  ) as unknown;
}
