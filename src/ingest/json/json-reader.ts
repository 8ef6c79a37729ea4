import { Tokenizer, TokenType } from '@streamparser/json';
import { JsonFault, JsonGrammar } from './json-grammar.ts';
import type { JsonToken } from './json-grammar.ts';
import { JsonNumber } from './json-value.ts';
import type { JsonValue } from './json-value.ts';
import { LineIndex } from '../csv/line-index.ts';
import { Refusal } from '../refusal.ts';

/** 4 MiB: no text of an invoice is longer, and a token is kept in memory whole. */
const LONGEST_TOKEN = 4 * 1024 * 1024;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Keeps the text of the last number: the library's own value is a float. */
class ExactTokenizer extends Tokenizer {
  numberText = '';

  protected override parseNumber(text: string): number {
    this.numberText = text;
    return 0;
  }
}

/** Reads records out of JSON or NDJSON bytes, chunk by chunk; errors name line and column. */
export class JsonReader {
  readonly #tokenizer = new ExactTokenizer();
  readonly #lines = new LineIndex();
  readonly #grammar: JsonGrammar;
  #records: JsonValue[] = [];
  #length = 0;
  #last = 0;

  constructor() {
    this.#grammar = new JsonGrammar((record) => this.#records.push(record));
    this.#tokenizer.onToken = ({ token, value, offset }) => {
      this.#last = offset;
      this.#grammar.take(this.#exact(token, value, offset));
    };
    this.#tokenizer.onError = (error) => {
      throw error;
    };
  }

  get format(): 'json' | 'ndjson' {
    return this.#grammar.format;
  }

  get frame(): 'array' | 'invoices' {
    return this.#grammar.frame;
  }

  /** Members beside `invoices`, which are no part of any invoice. */
  get otherMembers(): readonly string[] {
    return this.#grammar.otherMembers;
  }

  /** Records that these bytes complete. @throws Refusal */
  write(bytes: Uint8Array): readonly JsonValue[] {
    this.#lines.push(bytes);
    const start = this.#length;
    this.#length += bytes.length;
    this.#guard(() => this.#tokenizer.write(bytes), start);
    this.#lines.forgetBefore(this.#last);
    if (this.#length - this.#last > LONGEST_TOKEN) {
      throw this.#refusal(
        new JsonFault(
          'json-token-too-long',
          `expected no text longer than ${LONGEST_TOKEN} bytes, found one`,
          this.#last,
        ),
      );
    }
    return this.#take();
  }

  /** @throws Refusal */
  end(): readonly JsonValue[] {
    this.#guard(() => {
      this.#tokenizer.end();
      this.#grammar.end(this.#length);
    }, this.#length);
    return this.#take();
  }

  #take(): readonly JsonValue[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #exact(type: TokenType, value: unknown, offset: number): JsonToken {
    if (type === TokenType.NUMBER) return { type, value: new JsonNumber(this.#tokenizer.numberText), offset };
    if (typeof value === 'string' && value.includes('\0')) {
      throw new JsonFault('json-nul', 'expected text, found the character U+0000, which no database keeps', offset);
    }
    if (typeof value === 'string' && LONE_SURROGATE.test(value)) {
      throw new JsonFault(
        'json-lone-surrogate',
        'expected whole characters, found half of a surrogate pair (\\uD800 to \\uDFFF without its partner)',
        offset,
      );
    }
    return { type, value: typeof value === 'string' || typeof value === 'boolean' ? value : null, offset };
  }

  #guard(work: () => void, start: number): void {
    try {
      work();
    } catch (error) {
      if (error instanceof JsonFault) throw this.#refusal(error);
      if (!(error instanceof Error)) throw error;
      throw this.#refusal(this.#asFault(error, start));
    }
  }

  /** The tokenizer tells the place of a stray byte in its message only. */
  #asFault(error: Error, start: number): JsonFault {
    if (/ended in the middle/.test(error.message))
      return new JsonFault('json-truncated', 'the file ends inside a value: it was cut short', this.#length);
    const [, stray, at] =
      /^Unexpected "([^]*)" at chunk position "\d+" \(absolute position "(\d+)"\)/.exec(error.message) ?? [];
    return new JsonFault(
      'json-broken',
      stray === undefined ? 'expected JSON, found something else' : `expected JSON, found ${JSON.stringify(stray)}`,
      at === undefined ? start : Number(at),
    );
  }

  #refusal(fault: JsonFault): Refusal {
    const line = this.#lines.lineAt(fault.offset);
    return new Refusal(
      fault.code,
      `Line ${line}, column ${this.#lines.columnAt(fault.offset)}: ${fault.message}. Correct the file, or export it again`,
    );
  }
}
