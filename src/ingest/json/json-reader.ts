import { TokenType, Tokenizer } from '@streamparser/json';
import { LineIndex } from '../csv/line-index.ts';
import { FaultAt, Refusal, shorten } from '../findings.ts';

/** 4 MiB: no text of an invoice is longer, and the reader keeps a whole token in memory. */
const LONGEST_TOKEN = 4 * 1024 * 1024;

const STRAY: Readonly<Record<string, string>> = {
  '/': '"/": a comment, which JSON does not have. Remove the comments',
  '#': '"#": a comment, which JSON does not have. Remove the comments',
  '\u001e':
    'a record separator (U+001E): the file is a JSON text sequence. Remove these characters, which leaves NDJSON',
  "'": `"'": texts of JSON stand in double quotes`,
};

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Keeps the text of the last number, because the library's own value is a float. */
class ExactTokenizer extends Tokenizer {
  numberText = '';

  protected override parseNumber(text: string): number {
    this.numberText = text;
    return 0;
  }
}

/**
 * Returns true if the content is JSON: it starts with a bracket or a brace, which no header line of a CSV file does.
 */
export function isJson(head: Uint8Array): boolean {
  return /^[\s]*[[{]/.test(Buffer.from(head.subarray(0, 4096)).toString('utf8'));
}

interface JsonToken {
  readonly type: TokenType;
  readonly value: JsonValue;
  readonly offset: number;
}

/** An invoice has three levels; a deeper file is hostile. */
const DEEPEST = 64;
/** The limit for one record: about 60,000 invoice lines. Without it, one record could take all memory. */
const MOST_TOKENS = 1_000_000;
const OPENING: ReadonlySet<TokenType> = new Set([TokenType.LEFT_BRACE, TokenType.LEFT_BRACKET]);

type Frame =
  | { readonly kind: 'array'; readonly items: JsonValue[]; readonly records: boolean }
  | { readonly kind: 'object'; readonly members: JsonObject; key: string };

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/**
 * Reads records from JSON or NDJSON bytes, chunk by chunk: the elements of a list, of `invoices` in an object, or
 * consecutive objects. Keeps only the current record in memory; errors name line and column.
 */
export class JsonReader {
  readonly #tokenizer = new ExactTokenizer();
  readonly #lines = new LineIndex();
  #length = 0;
  #last = 0;
  #records: JsonValue[] = [];
  readonly #stack: Frame[] = [];
  #expected: Expected = 'value';
  #shape: 'undecided' | 'array' | 'invoices' | 'ndjson' = 'undecided';
  #tokens = 0;
  #comma = 0;
  /** The members beside `invoices` in their object; complete at the end of the file. */
  otherMembers: JsonObject = emptyObject();

  get format(): 'json' | 'ndjson' {
    return this.#shape === 'ndjson' ? 'ndjson' : 'json';
  }

  /** The container of the records in a file that is one JSON text. */
  get frame(): 'array' | 'invoices' {
    return this.#shape === 'invoices' ? 'invoices' : 'array';
  }

  #take(token: JsonToken): void {
    this.#tokens += 1;
    if (this.#tokens > MOST_TOKENS) {
      const message = `expected at most ${MOST_TOKENS} JSON tokens in one invoice, found more`;
      throw new FaultAt('json-record-too-large', message, token.offset);
    }
    switch (this.#expected) {
      case 'value':
      case 'value-or-end':
        return this.#takeValue(token);
      case 'key':
      case 'key-or-end':
        return this.#takeKey(token);
      case 'colon':
        if (token.type !== TokenType.COLON) throw unexpected('":"', token);
        this.#expected = 'value';
        return undefined;
      case 'comma-or-end':
        return this.#takeComma(token);
      case 'nothing':
        throw new FaultAt(
          'json-broken',
          'expected the end of the file after the list of invoices, found more',
          token.offset,
        );
    }
  }

  #endTokens(offset: number): void {
    if (this.#stack.length > 0 || this.#expected === 'colon') {
      const message = `the file ends inside ${this.#stack.length} open bracket(s) or brace(s): it was cut short`;
      throw new FaultAt('json-truncated', message, offset);
    }
  }

  #takeValue(token: JsonToken): void {
    if (token.type === TokenType.RIGHT_BRACKET && this.#stack.at(-1)?.kind === 'array') {
      if (this.#expected === 'value') {
        const message = 'expected another value after the comma, found a trailing comma';
        throw new FaultAt('json-broken', message, this.#comma);
      }
      return this.#close(token);
    }
    if (OPENING.has(token.type)) return this.#open(token);
    if (token.type < TokenType.TRUE) throw unexpected('a value', token);
    return this.#place(token.value, token);
  }

  #takeKey(token: JsonToken): void {
    if (token.type === TokenType.RIGHT_BRACE) {
      if (this.#expected === 'key') {
        const message = 'expected another member after the comma, found a trailing comma';
        throw new FaultAt('json-broken', message, this.#comma);
      }
      return this.#close(token);
    }
    const frame = this.#stack.at(-1);
    if (token.type !== TokenType.STRING || typeof token.value !== 'string' || frame?.kind !== 'object')
      throw unexpected('a member name in quotes', token);
    if (Object.hasOwn(frame.members, token.value)) {
      const message = `expected each name once in an object, found "${shorten(token.value, 60)}" twice`;
      throw new FaultAt('json-duplicate-key', message, token.offset);
    }
    frame.key = token.value;
    frame.members[token.value] = null;
    this.#expected = 'colon';
  }

  #takeComma(token: JsonToken): void {
    const frame = this.#stack.at(-1);
    if (token.type === TokenType.COMMA) {
      this.#comma = token.offset;
      this.#expected = frame?.kind === 'object' ? 'key' : 'value';
      return;
    }
    const closes = frame?.kind === 'object' ? TokenType.RIGHT_BRACE : TokenType.RIGHT_BRACKET;
    if (token.type !== closes) throw unexpected(frame?.kind === 'object' ? '"," or "}"' : '"," or "]"', token);
    this.#close(token);
  }

  #open(token: JsonToken): void {
    if (this.#stack.length >= DEEPEST)
      throw new FaultAt('json-too-deep', `expected at most ${DEEPEST} levels of nesting, found more`, token.offset);
    if (token.type === TokenType.LEFT_BRACE) {
      this.#stack.push({ kind: 'object', members: emptyObject(), key: '' });
      this.#expected = 'key-or-end';
      return;
    }
    const records = this.#startsRecords();
    if (records) this.#tokens = 0;
    this.#stack.push({ kind: 'array', items: [], records });
    this.#expected = 'value-or-end';
  }

  #startsRecords(): boolean {
    const parent = this.#stack[0];
    if (this.#shape !== 'undecided') return false;
    if (parent === undefined) this.#shape = 'array';
    else if (this.#stack.length === 1 && parent.kind === 'object' && parent.key === 'invoices')
      this.#shape = 'invoices';
    return this.#shape !== 'undecided';
  }

  #close(token: JsonToken): void {
    const frame = this.#stack.pop();
    if (frame !== undefined) this.#place(frame.kind === 'object' ? frame.members : frame.items, token);
  }

  #place(value: JsonValue, token: JsonToken): void {
    const frame = this.#stack.at(-1);
    if (frame === undefined) return this.#placeTop(value, token);
    this.#expected = 'comma-or-end';
    if (frame.kind === 'object') frame.members[frame.key] = value;
    else if (frame.records) this.#emit(value);
    else frame.items.push(value);
  }

  #placeTop(value: JsonValue, token: JsonToken): void {
    if (this.#shape === 'array' || this.#shape === 'invoices') {
      this.#expected = 'nothing';
      if (isObject(value)) {
        const { invoices: _, ...others } = value;
        this.otherMembers = others;
      }
      return;
    }
    if (token.type !== TokenType.RIGHT_BRACE)
      throw new FaultAt('json-broken', 'expected an invoice object on each line, found another value', token.offset);
    this.#shape = 'ndjson';
    this.#expected = 'value';
    this.#emit(value);
  }

  #emit(value: JsonValue): void {
    this.#tokens = 0;
    this.#records.push(value);
  }

  constructor() {
    this.#tokenizer.onToken = ({ token, value, offset }) => {
      this.#last = offset;
      this.#take(this.#exact(token, value, offset));
    };
    this.#tokenizer.onError = (error) => {
      throw error;
    };
  }

  write(bytes: Uint8Array): readonly JsonValue[] {
    this.#lines.push(bytes);
    const start = this.#length;
    this.#length += bytes.length;
    this.#guard(() => this.#tokenizer.write(bytes), start);
    this.#lines.forgetBefore(this.#last);
    if (this.#length - this.#last > LONGEST_TOKEN) {
      throw this.#refusal(
        new FaultAt(
          'json-token-too-long',
          `expected no text longer than ${LONGEST_TOKEN} bytes, found one`,
          this.#last,
        ),
      );
    }
    return this.#taken();
  }

  end(): readonly JsonValue[] {
    this.#guard(() => {
      this.#tokenizer.end();
      this.#endTokens(this.#length);
    }, this.#length);
    return this.#taken();
  }

  #taken(): readonly JsonValue[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #exact(type: TokenType, value: unknown, offset: number): JsonToken {
    if (type === TokenType.NUMBER) return { type, value: new JsonNumber(this.#tokenizer.numberText), offset };
    if (typeof value === 'string' && value.includes('\0')) {
      throw new FaultAt('json-nul', 'expected text, found the character U+0000, which no database keeps', offset);
    }
    if (typeof value === 'string' && LONE_SURROGATE.test(value)) {
      const message =
        'expected whole characters, found half of a surrogate pair (\\uD800 to \\uDFFF without its partner)';
      throw new FaultAt('json-lone-surrogate', message, offset);
    }
    return { type, value: typeof value === 'string' || typeof value === 'boolean' ? value : null, offset };
  }

  #guard(work: () => void, start: number): void {
    try {
      work();
    } catch (error) {
      if (error instanceof FaultAt) throw this.#refusal(error);
      if (!(error instanceof Error)) throw error;
      throw this.#refusal(this.#asFault(error, start));
    }
  }

  /** The tokenizer reports the position of a stray byte only in its message. */
  #asFault(error: Error, start: number): FaultAt {
    if (/ended in the middle/.test(error.message))
      return new FaultAt('json-truncated', 'the file ends inside a value: it was cut short', this.#length);
    const [, stray, at] =
      /^Unexpected "([^]*)" at chunk position "\d+" \(absolute position "(\d+)"\)/.exec(error.message) ?? [];
    const found = stray === undefined ? 'something else' : (STRAY[stray] ?? JSON.stringify(stray));
    return new FaultAt('json-broken', `expected JSON, found ${found}`, at === undefined ? start : Number(at));
  }

  #refusal(fault: FaultAt): Refusal {
    const line = this.#lines.lineAt(fault.offset);
    const message = `Line ${line}, column ${this.#lines.columnAt(fault.offset)}: ${fault.message}. Correct the file, or export it again`;
    return new Refusal(fault.code, message);
  }
}

function unexpected(expected: string, token: JsonToken): FaultAt {
  const message = `expected ${expected}, found ${TokenType[token.type]?.toLowerCase().replace('_', ' ') ?? 'something else'}`;
  return new FaultAt('json-broken', message, token.offset);
}

/** A number as the text of its token in the file, never as a float. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value with exact numbers. Its objects inherit nothing, so `__proto__` is an ordinary key. */
export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | JsonObject;

/** A JSON object with its members in file order. It inherits nothing. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * V8 stores class instances as records, but objects without a prototype as hash tables, which make a file take half as
 * long again.
 */
class Bare {}
Object.setPrototypeOf(Bare.prototype, null);
Reflect.deleteProperty(Bare.prototype, 'constructor');

function emptyObject(): JsonObject {
  return new Bare() as JsonObject;
}

/** Returns true for an object, and false for an array, a number, null or undefined. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** Returns compact JSON text with the numbers exactly as they were read. */
export function jsonText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}
