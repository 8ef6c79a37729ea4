import { randomBytes } from 'node:crypto';
import { isPlainObject } from '../../../domain/plain-object.ts';
import type { AnswerBody } from '../../../service/exchange-result.ts';
import type { CapturedExchange } from '../../../service/service-connection.ts';
import type { ServiceProfile } from '../../../service-profile/profile.ts';
import type { CapturedDelivery } from '../../../webhooks/handle-delivery.ts';
import { createOperationFinder } from '../operation-of.ts';
import { RECORDING_FORMAT, type DeliveryRecording, type ExchangeRecording, type RecordedBody } from '../recording.ts';
import { maskHeaders } from './mask-headers.ts';
import { maskJson } from './mask-json.ts';
import { createTextMask, type TextMask } from './mask-text.ts';
import { notePrivate, secretsIn, wordsIn } from './note-private.ts';
import { createPrivateValues } from './private-values.ts';
import { createPseudonyms } from './pseudonyms.ts';
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
export function createMasker(parts: MaskerParts): Masker {
  return new RecordMasker(parts);
}

class RecordMasker implements Masker {
  readonly #pseudonyms;
  readonly #secrets: string[];
  readonly #privates = createPrivateValues();
  readonly #ids = new Set<string>();
  readonly #eyes;
  readonly #operationOf;
  readonly #isOwnWord;
  readonly #ownSteps: readonly string[];
  readonly #secretHeaders: ReadonlySet<string>;

  constructor({ profile, key = randomBytes(32), secrets }: MaskerParts) {
    this.#pseudonyms = createPseudonyms(key);
    this.#secrets = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
    this.#eyes = createProfileEyes(profile);
    this.#operationOf = createOperationFinder(profile);
    const ownWords = new Set(wordsIn(profile).map((word) => word.toLowerCase()));
    this.#isOwnWord = (text: string): boolean => ownWords.has(text.toLowerCase());
    this.#ownSteps = Object.values(profile.requests).flatMap((one) =>
      typeof one === 'object' && 'path' in one && typeof one.path === 'string' ? stepsOf(one.path) : [],
    );
    const { kind, header } = profile.signature;
    this.#secretHeaders = new Set(kind === 'path' ? [] : [header.toLowerCase(), 'authorization']);
  }

  async exchange(raw: CapturedExchange): Promise<Omit<ExchangeRecording, 'name'>> {
    const { at, method, base, path, answer } = raw;
    const request = this.#operationOf(method, path);
    const operation = request?.operation ?? null;
    const strict = operation === 'register-webhook';
    const sent = raw.body === null ? undefined : parsed(raw.body);
    const said = answer.body.kind === 'json' ? answer.body.value : null;
    if (strict) this.#learn(secretsIn(said));
    const read = await this.#eyes.answer(operation, answer);
    const asked = request === null || request.id === null ? [] : [request.id];
    this.#noteRead({ ...read, ids: [...read.ids, ...asked] });
    this.#notePrivate(sent, 'all');
    this.#notePrivate(said, 'private');
    const words = new Set([...read.words, ...stepsOf(base), ...this.#ownSteps]);
    const text = this.#textMask(words, strict);
    return {
      ...{ format: RECORDING_FORMAT, kind: 'exchange', at, operation },
      request: {
        ...{ method, base: withoutUser(base), path: text.unknown(path) },
        ...(sent !== undefined && { body: this.#json(sent, this.#textMask(words, true), false) }),
      },
      answer: {
        status: answer.status,
        headers: maskHeaders(linesOf(answer.headers ?? {}), { text }),
        body: this.#body(answer.body, text, strict),
      },
    };
  }

  async delivery({ at, rawHeaders, raw, signature }: RawDelivery): Promise<Omit<DeliveryRecording, 'name'>> {
    const plain = raw === null ? null : bodyOf(raw);
    const read = raw === null ? null : await this.#eyes.delivery(raw, rawHeaders);
    if (read !== null) this.#noteRead(read);
    this.#notePrivate(plain?.kind === 'json' ? plain.value : null, 'private');
    const text = this.#textMask(new Set(read?.words), false);
    return {
      ...{ format: RECORDING_FORMAT, kind: 'delivery', at, signature },
      headers: maskHeaders(rawHeaders, { text, secret: this.#secretHeaders }),
      body: plain === null ? null : this.#body(plain, text, false),
    };
  }

  #learn(secrets: readonly string[]): void {
    for (const secret of secrets) if (!this.#secrets.includes(secret)) this.#secrets.push(secret);
  }

  #noteRead({ ids, taxNumbers }: WhatIsRead): void {
    for (const number of taxNumbers) this.#privates.note(number);
    for (const id of ids) if (!this.#privates.has(id)) this.#ids.add(id);
    if (this.#ids.size > MOST_IDS) this.#ids.clear();
  }

  #notePrivate(node: unknown, which: 'all' | 'private'): void {
    notePrivate(node, { privates: this.#privates, ids: this.#ids, isOwnWord: this.#isOwnWord, which });
  }

  #textMask(words: ReadonlySet<string>, strict: boolean): TextMask {
    const parts = { pseudonyms: this.#pseudonyms, privates: this.#privates, secrets: this.#secrets };
    return createTextMask(parts, { ids: this.#ids, words, ...(strict && { strict }) });
  }

  #json(value: unknown, text: TextMask, strict: boolean): unknown {
    return maskJson(value, {
      ...{ text, pseudonyms: this.#pseudonyms, isOwnWord: this.#isOwnWord },
      ids: strict ? new Set<string>() : this.#ids,
      isPrivate: (one) => this.#privates.has(one),
    });
  }

  #body(found: AnswerBody, text: TextMask, strict: boolean): RecordedBody {
    if (found.kind === 'json') return { kind: 'json', value: this.#json(found.value, text, strict) };
    if (found.text === undefined || found.why !== 'not-json') return { kind: 'unreadable', why: found.why };
    // The page of a gateway is no word of the service: that it is one, is all that is read of it.
    if (found.text.trimStart().startsWith('<')) return { kind: 'text', text: '<' };
    return { kind: 'text', text: text.sentence(found.text.slice(0, LONGEST_TEXT)) };
  }
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
function withoutUser(base: string): string {
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
