import { isPlainObject } from '../../../domain/plain-object.ts';
import { kindOfKey, type KeyKind } from './key-kind.ts';
import type { TextMask } from './mask-text.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import { isUsualCompound } from './readable-words.ts';

/** Deeper JSON is cut off: no answer is. */
const DEEPEST = 60;
const LONG_NUMBER = 1_000_000;
const TIME_DIGITS = /^(?:\d{10}|\d{13})$/;
const BASE64 = /^[A-Za-z0-9+/_-]{16,}={0,2}$/;

/** What a JSON value is masked with. */
export interface JsonMaskParts {
  readonly text: TextMask;
  readonly pseudonyms: Pseudonyms;
  readonly ids: ReadonlySet<string>;
  readonly isPrivate: (text: string) => boolean;
  /** Words that stand in the profile itself. */
  readonly isOwnWord: (text: string) => boolean;
}

interface Here {
  readonly kind: KeyKind;
  /** Somewhere inside an error, where a field's name stands beside a sentence about it. */
  readonly inError: boolean;
  readonly isCursor: boolean;
  readonly depth: number;
}

const TOP: Here = { kind: 'other', inError: false, isCursor: false, depth: 0 };
/** What stands there is sent again as it is, so that it is masked as in an address. */
const CURSOR = /cursor|next|token|after|continu/i;
const ERROR = /^(?:errors?|faults?|violations?|problems?|issues)$/i;

/** Masks every text and number of a JSON value, and keeps its shape; JSON in a text, also in base64, is masked inside. */
export function maskJson(value: unknown, parts: JsonMaskParts): unknown {
  const { text, pseudonyms, ids, isPrivate, isOwnWord } = parts;

  function masked(node: unknown, here: Here): unknown {
    if (typeof node === 'string') return maskedText(node, here);
    if (typeof node === 'number') return maskedNumber(node, here);
    if (here.depth > DEEPEST) return null;
    const depth = here.depth + 1;
    if (Array.isArray(node)) return node.map((item: unknown) => masked(item, { ...here, depth }));
    if (!isPlainObject(node)) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, below]) => {
        const inError = here.inError || ERROR.test(key);
        return [maskedKey(key), masked(below, { kind: kindOfKey(key), isCursor: CURSOR.test(key), inError, depth })];
      }),
    );
  }

  /** Some services write a tax number or an e-mail address before the colon. */
  function maskedKey(key: string): string {
    const isName = /^[@$#]?[A-Za-z_][\w.:@$-]{0,99}$/.test(key) && !/\d{5}|.@/.test(key);
    return isName && !isPrivate(key) ? key : pseudonyms.of(key);
  }

  function maskedText(node: string, here: Here): string {
    const inside = here.isCursor ? null : jsonInside(node, here);
    if (inside !== null) return inside;
    if (isOwnWord(node)) return node;
    const hasSpace = /\s/.test(node.trim());
    if (here.kind === 'secret') return text.secret(node);
    if (here.kind === 'private') return privateText(node, here, hasSpace);
    if (here.kind === 'id') return text.id(node);
    if (here.kind === 'word') return text.word(node);
    if (here.kind === 'text' || (here.inError && hasSpace)) return text.sentence(node);
    return text.unknown(node);
  }

  /** Resource names (`projects/main/invoices/7`) are ids, whatever the member is called. */
  function privateText(node: string, { inError }: Here, hasSpace: boolean): string {
    if (inError) return hasSpace ? text.sentence(node) : text.unknown(node);
    const last = node.split('/').at(-1) ?? '';
    if (!isPrivate(node) && ids.has(last) && /[\d/_-]/.test(node)) return text.id(node);
    return isUsualCompound(node) ? text.unknown(node) : text.whole(node);
  }

  function maskedNumber(node: number, { kind }: Here): number {
    const digits = String(node);
    if (!Number.isSafeInteger(node) || !/^\d+$/.test(digits)) return node;
    const otherwise = Number(kind === 'secret' ? pseudonyms.of(digits) : pseudonyms.ofNumbersIn(digits));
    if (isPrivate(digits) || kind === 'private' || kind === 'secret') return otherwise;
    if (ids.has(digits) || kind === 'id' || (kind === 'number' && TIME_DIGITS.test(digits))) return node;
    return node >= LONG_NUMBER && kind !== 'number' ? otherwise : node;
  }

  function jsonInside(node: string, here: Here): string | null {
    if (here.depth > DEEPEST || node.length < 2) return null;
    const below = { ...TOP, depth: here.depth + 10 };
    if (/^\s*[[{]/.test(node)) {
      const plain = parsed(node);
      return plain === undefined ? null : JSON.stringify(masked(plain, below));
    }
    if (!BASE64.test(node)) return null;
    const bytes = Buffer.from(node, 'base64');
    const plain = /^\s*[[{]/.test(bytes.toString('latin1', 0, 20)) ? parsed(bytes.toString('utf8')) : undefined;
    return plain === undefined ? null : Buffer.from(JSON.stringify(masked(plain, below))).toString('base64');
  }

  return masked(value, TOP);
}

function parsed(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
