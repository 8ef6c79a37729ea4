import { TokenType } from '@streamparser/json';
import { emptyObject, isObject } from './json-value.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { shorten } from '../invoice/shorten.ts';

/** What is wrong with a JSON text, and at which byte. */
export class JsonFault extends Error {
  readonly code: string;
  readonly offset: number;

  constructor(code: string, message: string, offset: number) {
    super(message);
    this.name = 'JsonFault';
    this.code = code;
    this.offset = offset;
  }
}

/** One token of a JSON text. `offset` is its first byte, counted from 0. */
export interface JsonToken {
  readonly type: TokenType;
  /** Set for strings, numbers, true, false and null. */
  readonly value: JsonValue;
  readonly offset: number;
}

/** An invoice is three levels deep; more than this is hostile. */
const DEEPEST = 64;
/** Of one record: about 60,000 invoice lines. Without a bound one record could take all memory. */
const MOST_TOKENS = 1_000_000;
const OPENING: ReadonlySet<TokenType> = new Set([TokenType.LEFT_BRACE, TokenType.LEFT_BRACKET]);

type Frame =
  | { readonly kind: 'array'; readonly items: JsonValue[]; readonly records: boolean }
  | { readonly kind: 'object'; readonly members: JsonObject; key: string };

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/**
 * The grammar over the tokens, where records are found: elements of a top-level array, elements of `invoices` in a top-level object, or
 * top-level objects one after the other (NDJSON). Only the record being read is in memory.
 */
export class JsonGrammar {
  readonly #onRecord: (value: JsonValue) => void;
  readonly #stack: Frame[] = [];
  #expected: Expected = 'value';
  #shape: 'undecided' | 'array' | 'invoices' | 'ndjson' = 'undecided';
  #tokens = 0;
  #comma = 0;
  #otherMembers: readonly string[] = [];

  constructor(onRecord: (value: JsonValue) => void) {
    this.#onRecord = onRecord;
  }

  get format(): 'json' | 'ndjson' {
    return this.#shape === 'ndjson' ? 'ndjson' : 'json';
  }

  /** What holds the records of a file that is one JSON text. */
  get frame(): 'array' | 'invoices' {
    return this.#shape === 'invoices' ? 'invoices' : 'array';
  }

  /** Names beside `invoices` in the object that holds them; known at the end. */
  get otherMembers(): readonly string[] {
    return this.#otherMembers;
  }

  /** @throws JsonFault */
  take(token: JsonToken): void {
    this.#tokens += 1;
    if (this.#tokens > MOST_TOKENS)
      throw new JsonFault(
        'json-record-too-large',
        `expected at most ${MOST_TOKENS} JSON tokens in one invoice, found more`,
        token.offset,
      );
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
        throw new JsonFault(
          'json-broken',
          'expected the end of the file after the list of invoices, found more',
          token.offset,
        );
    }
  }

  /** @throws JsonFault `json-truncated` */
  end(offset: number): void {
    if (this.#stack.length > 0 || this.#expected === 'colon') {
      throw new JsonFault(
        'json-truncated',
        `the file ends inside ${this.#stack.length} open bracket(s) or brace(s): it was cut short`,
        offset,
      );
    }
  }

  #takeValue(token: JsonToken): void {
    if (token.type === TokenType.RIGHT_BRACKET && this.#stack.at(-1)?.kind === 'array') {
      if (this.#expected === 'value')
        throw new JsonFault(
          'json-broken',
          'expected another value after the comma, found a trailing comma',
          this.#comma,
        );
      return this.#close(token);
    }
    if (OPENING.has(token.type)) return this.#open(token);
    if (token.type < TokenType.TRUE) throw unexpected('a value', token);
    return this.#place(token.value, token);
  }

  #takeKey(token: JsonToken): void {
    if (token.type === TokenType.RIGHT_BRACE) {
      if (this.#expected === 'key')
        throw new JsonFault(
          'json-broken',
          'expected another member after the comma, found a trailing comma',
          this.#comma,
        );
      return this.#close(token);
    }
    const frame = this.#stack.at(-1);
    if (token.type !== TokenType.STRING || typeof token.value !== 'string' || frame?.kind !== 'object')
      throw unexpected('a member name in quotes', token);
    if (Object.hasOwn(frame.members, token.value))
      throw new JsonFault(
        'json-duplicate-key',
        `expected each name once in an object, found "${shorten(token.value, 60)}" twice`,
        token.offset,
      );
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
      throw new JsonFault('json-too-deep', `expected at most ${DEEPEST} levels of nesting, found more`, token.offset);
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
      if (isObject(value)) this.#otherMembers = Object.keys(value).filter((name) => name !== 'invoices');
      return;
    }
    if (token.type !== TokenType.RIGHT_BRACE)
      throw new JsonFault('json-broken', 'expected an invoice object on each line, found another value', token.offset);
    this.#shape = 'ndjson';
    this.#expected = 'value';
    this.#emit(value);
  }

  #emit(value: JsonValue): void {
    this.#tokens = 0;
    this.#onRecord(value);
  }
}

function unexpected(expected: string, token: JsonToken): JsonFault {
  return new JsonFault(
    'json-broken',
    `expected ${expected}, found ${TokenType[token.type]?.toLowerCase().replace('_', ' ') ?? 'something else'}`,
    token.offset,
  );
}
