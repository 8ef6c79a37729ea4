import type { ServiceProfile } from '../../../service-profile/profile.ts';
import { kindOfKey } from './key-kind.ts';
import type { PrivateValues } from './private-values.ts';
import { isReadable, isUsualCompound, wordsOf } from './readable-words.ts';

/** Where private values are noted, and what never is one. */
export interface Noted {
  readonly privates: PrivateValues;
  readonly ids: ReadonlySet<string>;
  readonly isOwnWord: (text: string) => boolean;
  /** Of the request every text may be somebody's; of an answer those whose name says so. */
  readonly which: 'all' | 'private';
}

/** Notes the private texts of a JSON value. */
export function notePrivate(node: unknown, noted: Noted, depth = 0): void {
  if (depth > 30 || typeof node !== 'object' || node === null) return;
  for (const [key, below] of Object.entries(node)) {
    const kind = Array.isArray(node) ? 'other' : kindOfKey(key);
    const counts = kind === 'private' || (noted.which === 'all' && (kind === 'other' || kind === 'text'));
    if (typeof below !== 'string' && typeof below !== 'number') notePrivate(below, noted, depth + 1);
    else if (counts && (kind === 'private' || isTelling(below)) && !isOpen(below, noted)) noted.privates.note(below);
  }
}

/** A word of the profile, a compound of usual words, or the path to something whose id is known, such as `projects/main/invoices/7`. */
function isOpen(value: string | number, { ids, isOwnWord }: Noted): boolean {
  if (typeof value === 'number') return false;
  return isOwnWord(value) || isUsualCompound(value) || (value.includes('/') && ids.has(value.split('/').at(-1) ?? ''));
}

/** Every word that the profile looks for: somebody wrote it there, and it is nobody's name. */
export function wordsIn({ answers, invoice, event, idempotency, retry }: ServiceProfile): readonly string[] {
  return [
    ...[...invoice.issued, ...invoice.failed, ...event.issued, ...event.failed],
    ...[...idempotency.mismatchCodes, ...retry.failedReasonCodes, ...(answers.success?.is ?? [])],
    ...answers.rules.flatMap(({ code = [] }) => code),
  ];
}

/** Amounts, short numbers and usual words tell nobody anything. */
function isTelling(value: string | number): boolean {
  return (
    typeof value === 'string' &&
    (/\d{5}/.test(value) || wordsOf(value).some((word) => /\p{L}{3}/u.test(word) && !isReadable(word)))
  );
}

const SECRET_SHAPE = /^[\x21-\x7e]{12,4096}$/;

/** Whatever in the answer to a registration may be the secret. */
export function secretsIn(node: unknown, depth = 0): readonly string[] {
  if (typeof node === 'string') return SECRET_SHAPE.test(node) && !/^https?:/.test(node) ? [node] : [];
  if (depth > 30 || typeof node !== 'object' || node === null) return [];
  return Object.values(node).flatMap((below: unknown) => secretsIn(below, depth + 1));
}
