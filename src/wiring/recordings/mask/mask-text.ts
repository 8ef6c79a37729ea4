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
const HOST = /^((?:[a-z][a-z0-9+.-]*:)?\/\/)(?:[^/?#@]*@)?([^/?#]*)/i;

/** Makes the mask of one record. */
export function createTextMask({ pseudonyms, privates, secrets }: TextMaskParts, readable: Readable): TextMask {
  const { ids, words, strict = false } = readable;
  /** The letters of a country stay before its number. */
  const whole = (text: string): string => {
    const [, country = '', rest = text] = /^([A-Z]{2})(\d[\d .-]{4,20})$/.exec(text) ?? [];
    return country + pseudonyms.of(rest);
  };
  const guarded = (mask: (text: string) => string) => (text: string) => {
    if (text.trim() === '') return text;
    if (secrets.some((secret) => text.includes(secret))) return pseudonyms.ofSecret(text);
    return privates.has(text) || text.includes('@') ? whole(text) : mask(text);
  };
  const token = guarded((text) => (isKept(text) ? text : compound(text)));
  const id = guarded((text) => {
    if (ADDRESS.test(text) || text.includes('/')) return address(text);
    return !strict && ID_SHAPE.test(text) ? text : token(text);
  });
  const word = guarded((text) => {
    if (ADDRESS.test(text)) return address(text);
    return !strict && WORD_SHAPE.test(text) && !LONG_NUMBER.test(text) ? text : sentence(text);
  });

  const unknown = (text: string): string => (/\s/.test(text.trim()) ? guarded(whole)(text) : token(text));

  function isKept(text: string): boolean {
    if (isReadable(text)) return true;
    if (strict) return false;
    if (ids.has(text) || words.has(text) || AMOUNT.test(text) || DATE.test(text)) return true;
    return SHORT_CODE.test(text) || /^[-+]?\d{1,4}$/.test(text);
  }

  /** A compound stays if all of its words are usual, or if it is written as words of programs are and one of them is. */
  function compound(text: string): string {
    if (ADDRESS.test(text) || /^\/?[^\s/]+(?:\/[^\s/]+)+\/?$/.test(text) || /^\/[^\s/]+$/.test(text))
      return address(text);
    const parts = wordsOf(text);
    const isUsual = parts.length > 0 && parts.every((part) => isReadable(part) || /^\d{1,4}$/.test(part));
    if (isUsual && !/\s/.test(text)) return text;
    const isSnake = /^(?:[a-z]{2,20}(?:_[a-z]{1,20})+|[A-Z]{2,20}(?:_[A-Z]{1,20})+)$/.test(text);
    return isSnake && !strict && parts.some(isReadable) ? text : whole(text);
  }

  /** Steps and parameters each for itself; of the host nobody makes a secret, of a user before it everybody does. */
  function address(text: string): string {
    const host = HOST.exec(text);
    const rest = host === null ? text : text.slice(host[0].length);
    const [path = '', ...query] = rest.split('?');
    const steps = path.split('/').map((step) => coded(step, inAddress));
    const parameters = query.map((part) => part.split('&').map(parameter).join('&'));
    return [`${host?.[1] ?? ''}${host?.[2] ?? ''}${steps.join('/')}`, ...parameters].join('?');
  }

  function parameter(text: string): string {
    const [name = '', ...value] = text.split('=');
    if (value.length === 0) return coded(name, inAddress);
    const kind = kindOfKey(name);
    const mask = kind === 'secret' ? pseudonyms.ofSecret : kind === 'private' ? whole : unknown;
    return `${name}=${coded(value.join('='), mask)}`;
  }

  /** A step or a value; an id may have something around it, such as `Invoices(7)` or `7.json`. */
  function inAddress(text: string): string {
    if (secrets.some((secret) => text.includes(secret))) return pseudonyms.ofSecret(text);
    if (privates.has(text) || /[@/\s]/.test(text)) return whole(text);
    if (/^v\d{1,3}$/.test(text) || isKept(text)) return text;
    return text.replaceAll(/[\p{L}\p{N}_-]+/gu, (part) => token(part));
  }

  function sentence(text: string): string {
    if (secrets.some((secret) => text.includes(secret))) return pseudonyms.ofSecret(text);
    return privates
      .split(text)
      .map((piece) => (piece.isPrivate ? whole(piece.text) : usualWords(piece.text)))
      .join('');
  }

  function usualWords(text: string): string {
    return text.replaceAll(/[^\s,;!?()[\]{}"'«»“”„]+/gu, (chunk) => {
      const [, core = chunk, end = ''] = /^(.*?)([.:]*)$/s.exec(chunk) ?? [];
      return core === '' ? chunk : token(core) + end;
    });
  }

  return {
    ...{ unknown, word, id, sentence, whole },
    secret: (text) => pseudonyms.ofSecret(text),
  };
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
