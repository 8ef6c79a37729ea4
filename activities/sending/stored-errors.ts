import type { CreateAnswer } from '../../src/domain/records/service-answers.ts';

/** If one key gets the same words this often while the service answers, the error may be kept under the key. */
const SAME_ANSWERS = 12;
/** Fewer answers suffice over a time that no passing outage lasts, because Lote asks rarely while the circuit is open. */
const SAME_ANSWERS_OVER_SPAN = 6;
/** Number of remembered creations. Up to this many suspects may share one error and still be distinguished from an outage. */
const CREATIONS = 64;
/** Lote forgets a key after this time without an answer. */
const STALE_MS = 3_600_000;

/** Recognises a server error by the message that the client writes for each status. */
const SERVER_ERROR = /^HTTP 5\d\d/;

/** Returns whether the service may keep this server error under the key. */
export function isServerError(answer: CreateAnswer): answer is Extract<CreateAnswer, { kind: 'lost' }> {
  return answer.kind === 'lost' && SERVER_ERROR.test(answer.reason.message);
}

/** A POST that was answered. */
export interface AnsweredPost {
  readonly key: string;
  /** The place of the POST in the order of departure. */
  readonly place: number;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * `stored`: the service keeps the error under this key, if it answers anything at all. `own`: the same error again,
 * which concerns this key and not the service. `open`: neither is proved.
 */
export type StoredErrorVerdict = 'stored' | 'own' | 'open';

interface Suspect {
  readonly words: string;
  readonly times: number;
  /** The place of the first POST with this answer. */
  readonly place: number;
  readonly since: number;
  readonly heardAt: number;
}

/**
 * Tells an error that the service keeps under one idempotency key from an outage, by comparing answers.
 *
 * Some services keep a 500 under the Idempotency-Key for ever, and an outage of the write path gives every key the same
 * 503 while GET works. The other POSTs that left after this one distinguish the two. If more of them created an invoice
 * than share the error, the error is the key's own. If none is left to compare with, an error that stays the same for
 * `spanMs` is the key's own, too. Only a creation counts, because the service may refuse before it writes anything. The
 * counts are kept in memory and begin again after a restart.
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

  /** Returns the next place in the order of departure. */
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

  /** Forgets a key. If the service was away, the notes about its answers prove nothing. */
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
