import { kindOfKey } from './key-kind.ts';
import type { PrivateValues } from './private-values.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import { isReadable, wordsOf } from './readable-words.ts';

/** What texts are masked with. */
export interface TextMaskParts {
  readonly pseudonyms: Pseudonyms;
  readonly privates: PrivateValues;
  /** Wherever they occur, they are replaced. */
  readonly secrets: readonly string[];
}

/** What the profile in force reads in one record, and so may be read in the recording too. */
export interface Readable {
  /** Ids of invoices, merchants and events. */
  readonly ids: ReadonlySet<string>;
  /** Statuses, codes and types. */
  readonly words: ReadonlySet<string>;
  /** Only usual words stay. */
  readonly strict?: true;
}

/** Masks one text, by what is known of the place at which it stands. */
export interface TextMask {
  /** A text of which nothing is known. */
  unknown(text: string): string;
  /** A status, a code or a type. */
  word(text: string): string;
  /** An id, or an address that ends with one. */
  id(text: string): string;
  /** A sentence: its usual words stay. */
  sentence(text: string): string;
  /** A name, a tax number, an e-mail address. */
  whole(text: string): string;
  secret(text: string): string;
}

const WORD_SHAPE = /^[\p{L}\p{N}][\p{L}\p{N}_.:\\/-]{0,63}$/u;
const ID_SHAPE = /^[A-Za-z0-9_-]{1,250}$/;
const LONG_NUMBER = /\d{5}/;
const SHORT_CODE = /^[A-Z]{1,5}-?\d{1,4}$/;
const AMOUNT = /^[-+]?\d{1,12}[.,]\d{1,6}$/;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d)?)?$/;
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;
const PATH = /^(?:\/?[^\s/]+(?:\/[^\s/]+)+\/?|\/[^\s/]+)$/;
const SNAKE = /^(?:[a-z]{2,20}(?:_[a-z]{1,20})+|[A-Z]{2,20}(?:_[A-Z]{1,20})+)$/;
const HOST = /^((?:[a-z][a-z0-9+.-]*:)?\/\/)(?:[^/?#@]*@)?([^/?#]*)/i;

/** Makes the mask of one record. */
export function createTextMask(parts: TextMaskParts, readable: Readable): TextMask {
  return new RecordMask(parts, readable);
}

class RecordMask implements TextMask {
  readonly #parts: TextMaskParts;
  readonly #readable: Readable;

  constructor(parts: TextMaskParts, readable: Readable) {
    this.#parts = parts;
    this.#readable = readable;
  }

  unknown(text: string): string {
    if (!/\s/.test(text.trim())) return this.#token(text);
    return this.#guarded(text) ?? this.whole(text);
  }

  word(text: string): string {
    const guarded = this.#guarded(text);
    if (guarded !== null) return guarded;
    if (ADDRESS.test(text)) return this.#address(text);
    return this.#isFree && WORD_SHAPE.test(text) && !LONG_NUMBER.test(text) ? text : this.sentence(text);
  }

  id(text: string): string {
    const guarded = this.#guarded(text);
    if (guarded !== null) return guarded;
    if (text.includes('/')) return this.#address(text);
    return this.#isFree && ID_SHAPE.test(text) ? text : this.#token(text);
  }

  sentence(text: string): string {
    if (this.#hasSecret(text)) return this.secret(text);
    return this.#parts.privates
      .split(text)
      .map((piece) => (piece.isPrivate ? this.whole(piece.text) : this.#usualWords(piece.text)))
      .join('');
  }

  /** The letters of a country stay before its number. */
  whole(text: string): string {
    const [, country = '', rest = text] = /^([A-Z]{2})(\d[\d .-]{4,20})$/.exec(text) ?? [];
    return country + this.#parts.pseudonyms.of(rest);
  }

  secret(text: string): string {
    return this.#parts.pseudonyms.ofSecret(text);
  }

  get #isFree(): boolean {
    return this.#readable.strict !== true;
  }

  #hasSecret(text: string): boolean {
    return this.#parts.secrets.some((secret) => text.includes(secret));
  }

  /** What must never stay, replaced, and what is empty; null: that has to be found out. */
  #guarded(text: string): string | null {
    if (text.trim() === '') return text;
    if (this.#hasSecret(text)) return this.secret(text);
    return this.#parts.privates.has(text) || text.includes('@') ? this.whole(text) : null;
  }

  #token(text: string): string {
    return this.#guarded(text) ?? (this.#isKept(text) ? text : this.#compound(text));
  }

  #isKept(text: string): boolean {
    if (isReadable(text)) return true;
    if (!this.#isFree) return false;
    const { ids, words } = this.#readable;
    if (ids.has(text) || words.has(text) || AMOUNT.test(text) || DATE.test(text)) return true;
    return SHORT_CODE.test(text) || /^[-+]?\d{1,4}$/.test(text);
  }

  /** A compound stays if all of its words are usual, or if it is written as words of programs are and one of them is. */
  #compound(text: string): string {
    if (ADDRESS.test(text) || PATH.test(text)) return this.#address(text);
    const parts = wordsOf(text);
    const isUsual = parts.length > 0 && parts.every((part) => isReadable(part) || /^\d{1,4}$/.test(part));
    if (isUsual && !/\s/.test(text)) return text;
    return SNAKE.test(text) && this.#isFree && parts.some(isReadable) ? text : this.whole(text);
  }

  /** Steps and parameters each for itself; of the host nobody makes a secret, of a user before it everybody does. */
  #address(text: string): string {
    const host = HOST.exec(text);
    const rest = host === null ? text : text.slice(host[0].length);
    const [path = '', ...query] = rest.split('?');
    const steps = path.split('/').map((step) => coded(step, (one) => this.#step(one)));
    const parameters = query.map((part) =>
      part
        .split('&')
        .map((one) => this.#parameter(one))
        .join('&'),
    );
    return [`${host?.[1] ?? ''}${host?.[2] ?? ''}${steps.join('/')}`, ...parameters].join('?');
  }

  #parameter(text: string): string {
    const [name = '', ...value] = text.split('=');
    if (value.length === 0) return coded(name, (one) => this.#step(one));
    const kind = kindOfKey(name);
    return `${name}=${coded(value.join('='), (one) => {
      if (kind === 'secret') return this.secret(one);
      return kind === 'private' ? this.whole(one) : this.unknown(one);
    })}`;
  }

  /** A step of an address; an id may have something around it, such as `Invoices(7)` or `7.json`. */
  #step(text: string): string {
    const guarded = this.#guarded(text);
    if (guarded !== null) return guarded;
    if (/[/\s]/.test(text)) return this.whole(text);
    if (/^v\d{1,3}$/.test(text) || this.#isKept(text)) return text;
    return text.replaceAll(/[\p{L}\p{N}_-]+/gu, (part) => this.#token(part));
  }

  #usualWords(text: string): string {
    return text.replaceAll(/[^\s,;!?()[\]{}"'«»“”„]+/gu, (chunk) => {
      const [, core = chunk, end = ''] = /^(.*?)([.:]*)$/s.exec(chunk) ?? [];
      return core === '' ? chunk : this.#token(core) + end;
    });
  }
}

/** Masks what stands behind `%` codes. */
function coded(text: string, mask: (text: string) => string): string {
  if (text === '') return text;
  try {
    const plain = decodeURIComponent(text);
    const masked = mask(plain);
    return masked === plain ? text : encodeURIComponent(masked);
  } catch {
    return mask(text.replaceAll('%', 'x'));
  }
}
