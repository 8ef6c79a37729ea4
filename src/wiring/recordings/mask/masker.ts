import { randomBytes } from 'node:crypto';
import { isPlainObject } from '../../../domain/plain-object.ts';
import type { AnswerBody } from '../../../service/exchange-result.ts';
import type { CapturedExchange } from '../../../service/service-connection.ts';
import type { ServiceProfile } from '../../../service-profile/profile.ts';
import type { CapturedDelivery } from '../../../webhooks/handle-delivery.ts';
import { createOperationFinder } from '../operation-of.ts';
import { RECORDING_FORMAT, type DeliveryRecording, type ExchangeRecording, type RecordedBody } from '../recording.ts';
import { kindOfKey } from './key-kind.ts';
import { maskHeaders } from './mask-headers.ts';
import { maskJson } from './mask-json.ts';
import { createTextMask, type Readable, type TextMask } from './mask-text.ts';
import { createPrivateValues, type PrivateValues } from './private-values.ts';
import { createPseudonyms } from './pseudonyms.ts';
import { isReadable, isUsualCompound, wordsOf } from './readable-words.ts';
import { createProfileEyes, type WhatIsRead } from './what-is-read.ts';

/** A delivery as it was, and how it was judged; nothing of it is masked. */
export type RawDelivery = Pick<CapturedDelivery, 'at' | 'rawHeaders' | 'raw'> & Pick<DeliveryRecording, 'signature'>;

/** Masks what is recorded. It learns what is private from what it has seen before, and never forgets a secret. */
export interface Masker {
  exchange(raw: CapturedExchange): Promise<Omit<ExchangeRecording, 'name'>>;
  delivery(raw: RawDelivery): Promise<Omit<DeliveryRecording, 'name'>>;
}

/** What records are masked by. */
export interface MaskerParts {
  readonly profile: ServiceProfile;
  /** Under which pseudonyms are made; left out: one of its own, so that they are others each time. */
  readonly key?: Uint8Array;
  readonly secrets: readonly string[];
}

/** Shorter ones are stand-ins in tests, and would be found everywhere. */
const SHORTEST_SECRET = 6;
const LONGEST_TEXT = 2_000;
/** Ids that were seen where ids stand are ids elsewhere too. */
const MOST_IDS = 20_000;

/** Makes the masker of one capture or of one reading of a HAR file. */
export function createMasker({ profile, key = randomBytes(32), secrets }: MaskerParts): Masker {
  const pseudonyms = createPseudonyms(key);
  const privates = createPrivateValues();
  const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const learn = (secret: string): void => void (known.includes(secret) ? 0 : known.push(secret));
  const ids = new Set<string>();
  const eyes = createProfileEyes(profile);
  const operationOf = createOperationFinder(profile);
  const ownSteps = Object.values(profile.requests).flatMap((one) =>
    typeof one === 'object' && 'path' in one && typeof one.path === 'string' ? stepsOf(one.path) : [],
  );
  const secretHeaders = new Set(
    profile.signature.kind === 'path' ? [] : [profile.signature.header.toLowerCase(), 'authorization'],
  );

  const ownWords = new Set(wordsIn(profile).map((word) => word.toLowerCase()));
  const isOwnWord = (text: string): boolean => ownWords.has(text.toLowerCase());
  const noted = { privates, ids, isOwnWord };

  function noteRead({ ids: found, taxNumbers }: WhatIsRead): void {
    for (const number of taxNumbers) privates.note(number);
    for (const id of found) if (!privates.has(id)) ids.add(id);
    if (ids.size > MOST_IDS) ids.clear();
  }

  function textMask(readable: Readable): TextMask {
    return createTextMask({ pseudonyms, privates, secrets: known }, readable);
  }

  function json(value: unknown, text: TextMask, strict: boolean): unknown {
    const parts = { text, pseudonyms, ids: strict ? new Set<string>() : ids, isPrivate: privates.has, isOwnWord };
    return maskJson(value, parts);
  }

  function body(found: AnswerBody, text: TextMask, strict: boolean): RecordedBody {
    if (found.kind === 'json') return { kind: 'json', value: json(found.value, text, strict) };
    if (found.text === undefined || found.why !== 'not-json') return { kind: 'unreadable', why: found.why };
    // The page of a gateway is no word of the service: that it is one, is all that is read of it.
    if (found.text.trimStart().startsWith('<')) return { kind: 'text', text: '<' };
    return { kind: 'text', text: text.sentence(found.text.slice(0, LONGEST_TEXT)) };
  }

  return {
    async exchange({ at, method, base, path, body: sent, answer }) {
      const request = operationOf(method, path);
      const operation = request?.operation ?? null;
      const strict = operation === 'register-webhook';
      const sentJson = sent === null ? undefined : parsed(sent);
      if (strict && answer.body.kind === 'json') secretsIn(answer.body.value).forEach(learn);
      const read = await eyes.answer(operation, answer);
      const asked = request === null || request.id === null ? [] : [request.id];
      noteRead({ ...read, ids: [...read.ids, ...asked] });
      notePrivate(sentJson, { ...noted, which: 'all' });
      notePrivate(answer.body.kind === 'json' ? answer.body.value : null, { ...noted, which: 'private' });
      const words = new Set([...read.words, ...stepsOf(base), ...ownSteps]);
      const text = textMask({ ids, words, ...(strict && { strict }) });
      const ofRequest = textMask({ ids, words, strict: true });
      return {
        ...{ format: RECORDING_FORMAT, kind: 'exchange', at, operation },
        request: {
          ...{ method, base: maskedBase(base) },
          path: text.unknown(path),
          ...(sentJson !== undefined && { body: json(sentJson, ofRequest, false) }),
        },
        answer: {
          status: answer.status,
          headers: maskHeaders(linesOf(answer.headers ?? {}), { text }),
          body: body(answer.body, text, strict),
        },
      };
    },
    async delivery({ at, rawHeaders, raw, signature }) {
      const plain = raw === null ? null : bodyOf(raw);
      const read: WhatIsRead =
        raw === null ? { ids: [], words: [], taxNumbers: [] } : await eyes.delivery(raw, rawHeaders);
      noteRead(read);
      notePrivate(plain?.kind === 'json' ? plain.value : null, { ...noted, which: 'private' });
      const text = textMask({ ids, words: new Set(read.words) });
      return {
        ...{ format: RECORDING_FORMAT, kind: 'delivery', at, signature },
        headers: maskHeaders(rawHeaders, { text, secret: secretHeaders }),
        body: plain === null ? null : body(plain, text, false),
      };
    },
  };
}

interface Noted {
  readonly privates: PrivateValues;
  readonly ids: ReadonlySet<string>;
  readonly isOwnWord: (text: string) => boolean;
  /** Of the request every text may be somebody's; of an answer those whose name says so. */
  readonly which: 'all' | 'private';
}

function notePrivate(node: unknown, noted: Noted, depth = 0): void {
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
function wordsIn({ answers, invoice, event, idempotency, retry }: ServiceProfile): readonly string[] {
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
function secretsIn(node: unknown, depth = 0): readonly string[] {
  if (typeof node === 'string') return SECRET_SHAPE.test(node) && !/^https?:/.test(node) ? [node] : [];
  if (depth > 30 || typeof node !== 'object' || node === null) return [];
  return Object.values(node).flatMap((below: unknown) => secretsIn(below, depth + 1));
}

function parsed(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return isPlainObject(value) || Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The steps of an address, and what stands in its query. */
function stepsOf(address: string): readonly string[] {
  return address.split(/[/?&=]/).filter((step) => step !== '' && !step.includes('{'));
}

/** A user and a password belong into no base address, and would be nobody's business. */
function maskedBase(base: string): string {
  return base.replace(/\/\/[^/@]*@/, '//');
}

function linesOf(headers: Readonly<Record<string, string | readonly string[] | undefined>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((line) => [name, line]));
}

function bodyOf(raw: Uint8Array): AnswerBody {
  if (raw.byteLength === 0) return { kind: 'unreadable', why: 'empty' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
    const value = parsed(text);
    return value === undefined ? { kind: 'unreadable', why: 'not-json', text } : { kind: 'json', value };
  } catch {
    return { kind: 'unreadable', why: 'not-json' };
  }
}
