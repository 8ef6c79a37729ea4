import type { CreateAnswer } from '../../src/domain/records/service-answers.ts';

/** The same words this often to one key, from a service that answers other questions, may be kept under the key. */
const SAME_ANSWERS = 12;
/** Spread over a time that no passing outage lasts, fewer are enough: behind an open circuit an invoice is asked for only now and then. */
const SAME_ANSWERS_OVER_SPAN = 6;
/** Creations that are remembered to compare with. As many suspects may share one error and still be distinguished from an outage. */
const CREATIONS = 64;
/** A key without an answer for so long is forgotten. */
const STALE_MS = 3_600_000;

/** An error of the server itself, by the words that the client gives every status. */
const SERVER_ERROR = /^HTTP 5\d\d/;

/** An answer that may be an error of the server, kept under the key. */
export function isServerError(answer: CreateAnswer): answer is Extract<CreateAnswer, { kind: 'lost' }> {
  return answer.kind === 'lost' && SERVER_ERROR.test(answer.reason.message);
}

/** One POST that was answered. */
export interface AnsweredPost {
  readonly key: string;
  /** Its place in the order in which POSTs left. */
  readonly place: number;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * `stored`: it is kept under this key, if the service answers anything at all. `own`: the same error again, which concerns this key and not
 * the service. `open`: nothing of the kind is proved.
 */
export type StoredErrorVerdict = 'stored' | 'own' | 'open';

interface Suspect {
  readonly words: string;
  readonly times: number;
  /** Of the first POST that was answered so. */
  readonly place: number;
  readonly since: number;
  readonly heardAt: number;
}

/**
 * Tells a stored error, which the service repeats for one idempotency key for ever, from an outage, by comparing answers.
 *
 * Some services keep a 500 under the Idempotency-Key for ever, and an outage of the write path gives every key the same
 * 503 while GET works. The other POSTs that left after this one distinguish the two. When more of them created an
 * invoice than share its error, the error is the key's own; where none is left to compare with, an answer that stays
 * the same for `spanMs` is. Only a creation counts, because a refusal may be given before anything is written. Kept in
 * memory: after a restart the counting begins again.
 */
export class StoredErrors {
  readonly #spanMs: number;
  /** In the order of their last answers. */
  readonly #suspects = new Map<string, Suspect>();
  readonly #creations: number[] = [];
  #places = 0;

  constructor({ spanMs }: { readonly spanMs: number }) {
    this.#spanMs = spanMs;
  }

  /** The next place in the order in which POSTs leave. */
  leave(): number {
    return (this.#places += 1);
  }

  note({ key, place, sentAt, answeredAt }: AnsweredPost, answer: CreateAnswer): StoredErrorVerdict {
    const before = this.#suspects.get(key);
    this.#suspects.delete(key);
    if (answer.kind === 'created' && this.#creations.push(place) > CREATIONS) this.#creations.shift();
    if (!isServerError(answer)) return 'open';
    this.#forgetStale(answeredAt);
    const words = `${answer.reason.code} ${answer.reason.message}`;
    const known = before?.words === words ? before : { words, times: 0, place, since: sentAt };
    const suspect = { ...known, times: known.times + 1, heardAt: answeredAt };
    this.#suspects.set(key, suspect);
    const own = suspect.times > 1 && this.#isOwn(suspect);
    const spread = suspect.times >= SAME_ANSWERS_OVER_SPAN && answeredAt - suspect.since >= this.#spanMs;
    if (spread || (own && suspect.times >= SAME_ANSWERS)) return 'stored';
    return own ? 'own' : 'open';
  }

  /** What was noted of a key proves nothing: the service was away. */
  forget(key: string): void {
    this.#suspects.delete(key);
  }

  #isOwn({ words, place }: Suspect): boolean {
    const created = this.#creations.filter((one) => one > place).length;
    return created > 0 && created > [...this.#suspects.values()].filter((one) => one.words === words).length;
  }

  #forgetStale(now: number): void {
    for (const [key, { heardAt }] of this.#suspects) {
      if (now - heardAt < STALE_MS) return;
      this.#suspects.delete(key);
    }
  }
}
