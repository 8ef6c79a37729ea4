import { TokenParser, TokenType, Tokenizer } from '@streamparser/json';
import { FaultAt, shorten } from '../findings.ts';

/** 4 MiB: no text of an invoice is longer, and the reader keeps a whole token in memory. */
const LONGEST_TOKEN = 4 * 1024 * 1024;
/** An invoice has three levels; a deeper file is hostile. */
const DEEPEST = 64;
/** The limit for one record: about 60,000 invoice lines. Without it, one record could take all memory. */
const MOST_TOKENS = 1_000_000;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Keeps numbers as texts, because the library's own value is a float. */
class ExactTokenizer extends Tokenizer {
  protected override parseNumber(text: string): number {
    return new JsonNumber(text) as unknown as number;
  }
}

/** JSON starts with a bracket or a brace, which no header line of a CSV file does. */
export function isJson(head: Uint8Array): boolean {
  return /^[\s]*[[{]/.test(Buffer.from(head.subarray(0, 4096)).toString('utf8'));
}

type Token = Parameters<Tokenizer['onToken']>[0];
type Element = Parameters<TokenParser['onValue']>[0];

/**
 * Reads records from JSON or NDJSON bytes, chunk by chunk: the elements of a list, of `invoices` in an object, or
 * consecutive objects. Keeps only the current record in memory. Throws `FaultAt` with the offset of a fault.
 */
export class JsonReader {
  readonly #tokenizer = new ExactTokenizer();
  readonly #parser = new TokenParser({ paths: ['$', '$.*', '$.invoices.*'], separator: '' });
  #length = 0;
  /** Offset of the last token. */
  #last = 0;
  #tokens = 0;
  /** The last text, which a colon makes a name, and its offset. */
  #text = '';
  #textAt = 0;
  /** The names in each open object so far; null for an open list. */
  readonly #open: (Set<string> | null)[] = [];
  #records: JsonValue[] = [];
  #shape: 'undecided' | 'array' | 'invoices' | 'ndjson' = 'undecided';
  #isComplete = false;
  /** The members beside `invoices` in their object; complete at the end of the file. */
  otherMembers: JsonObject = {};

  constructor() {
    this.#tokenizer.onToken = (token) => {
      this.#last = token.offset;
      this.#check(token);
      this.#parser.write(token);
    };
    this.#tokenizer.onError = (error) => {
      throw error;
    };
    this.#parser.onValue = (element) => this.#take(element);
  }

  get format(): 'json' | 'ndjson' {
    return this.#shape === 'ndjson' ? 'ndjson' : 'json';
  }

  /** The container of the records in a file that is one JSON text. */
  get frame(): 'array' | 'invoices' {
    return this.#shape === 'invoices' ? 'invoices' : 'array';
  }

  write(bytes: Uint8Array): readonly JsonValue[] {
    const start = this.#length;
    this.#length += bytes.length;
    this.#guard(() => this.#tokenizer.write(bytes), start);
    if (this.#length - this.#last > LONGEST_TOKEN)
      throw this.#fault('json-token-too-long', `expected no text longer than ${LONGEST_TOKEN} bytes, found one`);
    return this.#taken();
  }

  end(): readonly JsonValue[] {
    this.#guard(() => {
      this.#tokenizer.end();
      this.#parser.end();
    }, this.#length);
    return this.#taken();
  }

  #taken(): readonly JsonValue[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  /** Checks what the library accepts: repeated names, hostile sizes, and texts that no database keeps. */
  #check({ token, value }: Token): void {
    if (this.#isComplete)
      throw this.#fault('json-broken', 'expected the end of the file after the list of invoices, found more');
    this.#tokens += 1;
    if (this.#tokens > MOST_TOKENS)
      throw this.#fault(
        'json-record-too-large',
        `expected at most ${MOST_TOKENS} JSON tokens in one invoice, found more`,
      );
    if (token === TokenType.STRING) this.#checkText(String(value));
    else if (token === TokenType.COLON) this.#checkName();
    else if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
      if (this.#open.length >= DEEPEST)
        throw this.#fault('json-too-deep', `expected at most ${DEEPEST} levels of nesting, found more`);
      this.#open.push(token === TokenType.LEFT_BRACE ? new Set() : null);
    } else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) this.#open.pop();
  }

  #checkText(text: string): void {
    this.#text = text;
    this.#textAt = this.#last;
    if (text.includes('\0'))
      throw this.#fault('json-nul', 'expected text, found the character U+0000, which no database keeps');
    if (!LONE_SURROGATE.test(text)) return;
    const message =
      'expected whole characters, found half of a surrogate pair (\\uD800 to \\uDFFF without its partner)';
    throw this.#fault('json-lone-surrogate', message);
  }

  #checkName(): void {
    const names = this.#open.at(-1);
    if (names?.has(this.#text) === true) {
      const message = `expected each name once in an object, found "${shorten(this.#text, 60)}" twice`;
      throw new FaultAt('json-duplicate-key', message, this.#textAt);
    }
    names?.add(this.#text);
  }

  #take({ value, parent, stack }: Element): void {
    const found = value as unknown as JsonValue;
    if (stack.length === 0) return this.#takeTop(found);
    const list: JsonValue[] | null = Array.isArray(parent) ? (parent as unknown as JsonValue[]) : null;
    const shape = stack.length === 1 ? 'array' : 'invoices';
    if (list === null || (this.#shape !== 'undecided' && this.#shape !== shape)) return;
    this.#shape = shape;
    list.length = 0;
    this.#emit(found);
  }

  /** Takes a value that no other one holds. An object without a list of invoices is a line of NDJSON. */
  #takeTop(value: JsonValue): void {
    if (this.#shape === 'undecided' && Array.isArray(value)) this.#shape = 'array';
    if (this.#shape === 'undecided' && isObject(value) && Array.isArray(value['invoices'])) this.#shape = 'invoices';
    if (this.#shape === 'array' || this.#shape === 'invoices') {
      this.#isComplete = true;
      if (isObject(value)) {
        const { invoices: _, ...others } = value;
        this.otherMembers = others;
      }
      return;
    }
    if (!isObject(value))
      throw this.#fault('json-broken', 'expected an invoice object on each line, found another value');
    this.#shape = 'ndjson';
    this.#emit(value);
  }

  #emit(value: JsonValue): void {
    this.#tokens = 0;
    this.#records.push(value);
  }

  #guard(work: () => void, start: number): void {
    try {
      work();
    } catch (error) {
      if (error instanceof FaultAt || !(error instanceof Error)) throw error;
      throw this.#asFault(error.message, start);
    }
  }

  /** The tokenizer reports the position of a stray byte only in its message; the parser rejects the last token. */
  #asFault(message: string, start: number): FaultAt {
    if (/ended in/.test(message))
      return new FaultAt('json-truncated', 'the file ends inside a value: it was cut short', this.#length);
    const [, stray = '', at] =
      /^Unexpected "([^]*)" at chunk position "\d+" \(absolute position "(\d+)"\)/.exec(message) ?? [];
    if (at !== undefined)
      return new FaultAt('json-broken', `expected JSON, found ${JSON.stringify(stray)}`, Number(at));
    const token = /^Unexpected (\w+) /.exec(message)?.[1];
    if (token === undefined) return new FaultAt('json-broken', 'expected JSON, found something else', start);
    return this.#fault(
      'json-broken',
      `expected JSON, found a ${token.toLowerCase().replace('_', ' ')} in a wrong place`,
    );
  }

  #fault(code: string, message: string): FaultAt {
    return new FaultAt(code, message, this.#last);
  }
}

/** A number as the text of its token in the file, never as a float. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value with exact numbers. */
export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | JsonObject;

/** A JSON object. A name such as `constructor` is inherited: ask `Object.hasOwn` for names that a file chooses. */
export interface JsonObject {
  [key: string]: JsonValue;
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
