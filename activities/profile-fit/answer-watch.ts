import type { CreateAnswer, SeenStatus, StatusAnswer } from '../../src/domain/ports/invoicing-service.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import { shownWord } from '../../src/domain/profile-misfit.ts';
import { PROFILE_CONTRADICTION } from '../../src/domain/circuit-reasons.ts';
import { createContradictedWords, type ContradictedWords } from './contradicted-words.ts';
import { createContradictionStop, type ContradictionStop, type ContradictionStopDeps } from './contradiction-stop.ts';
import { createEventIds } from './event-ids.ts';
import { createIssuedWords, type IssuedWordsOptions } from './issued-words.ts';
import { createMisfitNotes, type MisfitNotes, type MisfitNotesDeps } from './misfit-notes.ts';
import { createReasonSigns } from './reason-signs.ts';
import { createUnknownWords } from './unknown-words.ts';

/** What a watch needs, and the words of the profile in small letters. */
export type AnswerWatchOptions = MisfitNotesDeps &
  ContradictionStopDeps &
  Omit<IssuedWordsOptions, 'words'> & {
    readonly issued: readonly string[];
    readonly failed: readonly string[];
  };

/** An answer to the GET of an invoice. */
export interface AskedInvoice {
  readonly serviceId: string;
  readonly answer: StatusAnswer;
  /** What a signed event says of the invoice; null: none has come. */
  readonly reported: 'issued' | 'failed' | null;
  /** No planned GET of the invoice follows: what it says counts, unless something speaks against it. */
  readonly isLast: boolean;
}

/**
 * What the receiver and the activities of one process see of the answers of a service: whether the profile reads them rightly. What does not fit is noted
 * for people; what would turn a report around is not believed.
 */
export interface AnswerWatch {
  /** The answer to the first POST of a key. */
  created(answer: CreateAnswer): void;
  /** A definitive 4xx without an error where the profile looks for it, while others are created. */
  unreadRefusal(message: string): void;
  /** The answer as it counts: an `issued` that is not believed yet is `processing`, and none counts behind a stop. */
  asked(asked: AskedInvoice): Promise<StatusAnswer>;
  /** Whether another GET is to come soon, because one alone is not believed. */
  isWaiting(serviceId: string): boolean;
  /** A GET called it issued long ago, and it has failed since. */
  failedAfterIssued(serviceId: string): Promise<void>;
  /** A signed event about an invoice, with the id of its own; null: it has none. */
  event(serviceId: string, eventId: string | null): void;
  /** The words of the profile contradict each other: nothing counts any more. `found` says what was found, and what to correct. */
  stop(found: string, invoices: Iterable<string>): Promise<void>;
  /** Whether nothing counts now, also because another process has found a contradiction within the last second or before. */
  isStopped(): boolean | Promise<boolean>;
  /** Why nothing counts any more in this process, which has found the contradiction; null: it has found none. */
  stoppedHere(): Reason | null;
}

const BEHIND_STOP: StatusAnswer = {
  kind: 'not-now',
  reason: { code: PROFILE_CONTRADICTION, message: 'The words of the service profile contradict each other' },
  retryAfterMs: null,
};
const STATUS_MISSING = 'invoice-status-missing';
const ISSUED_EARLY = 'issued-word-early';
const REFUSALS_UNREADABLE = 'refusals-unreadable';

/** Makes the watch of one process. */
export function createAnswerWatch(options: AnswerWatchOptions): AnswerWatch {
  return new Watch(options);
}

class Watch implements AnswerWatch {
  readonly #notes: MisfitNotes;
  readonly #stop: ContradictionStop;
  readonly #contradicted: ContradictedWords;
  readonly #words: ReturnType<typeof createIssuedWords>;
  readonly #unknown: ReturnType<typeof createUnknownWords>;
  readonly #reasons: ReturnType<typeof createReasonSigns>;
  readonly #eventIds: ReturnType<typeof createEventIds>;
  readonly #says: ReadonlyMap<string, 'issued' | 'failed'>;
  #firstWord: string | null = null;
  #hasStatus = false;

  constructor(options: AnswerWatchOptions) {
    const { issued, failed } = options;
    this.#notes = createMisfitNotes(options);
    this.#stop = createContradictionStop(options);
    this.#contradicted = createContradictedWords(this.#stop);
    this.#words = createIssuedWords({ ...options, words: issued.length });
    this.#unknown = createUnknownWords(this.#notes);
    this.#reasons = createReasonSigns(this.#notes);
    this.#eventIds = createEventIds(this.#notes);
    this.#says = new Map([
      ...failed.map((word) => [word.toLowerCase(), 'failed'] as const),
      ...issued.map((word) => [word.toLowerCase(), 'issued'] as const),
    ]);
  }

  created(answer: CreateAnswer): void {
    if (answer.kind === 'refused') this.#notes.clear(REFUSALS_UNREADABLE);
    if (answer.kind !== 'created' || answer.word === undefined || answer.word === null) return;
    const says = this.#says.get(answer.word) ?? null;
    this.#words.atCreation(answer.word, says);
    if (says === null) this.#unknown.atCreation(answer.word);
    this.#firstWord ??= answer.word;
  }

  unreadRefusal(message: string): void {
    this.#notes.note(
      REFUSALS_UNREADABLE,
      `A refusal cannot be read, and such invoices become unknown (${message}). Correct error.code and error.message in the service profile, or write a rule in answers.rules.`,
    );
  }

  async asked(asked: AskedInvoice): Promise<StatusAnswer> {
    const counts = await this.#judge(asked);
    return (await this.isStopped()) ? BEHIND_STOP : counts;
  }

  async #judge({ serviceId, answer, reported, isLast }: AskedInvoice): Promise<StatusAnswer> {
    if (answer.kind !== 'status' || answer.seen === undefined) return answer;
    const { seen, status } = answer;
    this.#noteStatus(seen);
    if (seen.word === null || status === 'unreadable') return answer;
    if (status === 'processing') {
      this.#unknown.seen({ serviceId, word: seen.word, place: seen.place, reported, isLast });
      return answer;
    }
    this.#unknown.finalSeen();
    if (this.#reasons.note(serviceId, status, seen)) await this.#contradicted.swapped();
    if (status === 'failed') {
      const word = this.#words.failed(serviceId);
      if (word !== null) await this.#contradicted.note(serviceId, shownWord(word));
      return answer;
    }
    if (reported === 'issued') this.#agreed(seen.word);
    if (this.#words.isBelieved({ serviceId, word: seen.word, isLast })) return answer;
    return { kind: 'status', status: 'processing', reason: null, seen };
  }

  isWaiting(serviceId: string): boolean {
    return this.#words.isWaiting(serviceId);
  }

  async failedAfterIssued(serviceId: string): Promise<void> {
    await this.#contradicted.note(serviceId, null);
  }

  event(serviceId: string, eventId: string | null): void {
    this.#eventIds.note(serviceId, eventId);
  }

  stop(found: string, invoices: Iterable<string>): Promise<void> {
    return this.#stop.raise(found, invoices);
  }

  isStopped(): boolean | Promise<boolean> {
    return this.#stop.isRaised();
  }

  stoppedHere(): Reason | null {
    return this.#stop.raisedHere();
  }

  #noteStatus({ word, place }: SeenStatus): void {
    if (word !== null) {
      this.#hasStatus = true;
      return this.#notes.clear(STATUS_MISSING);
    }
    if (this.#hasStatus) return;
    const message = `Nothing stands at ${place} (invoice.status) in the answer to the GET of an invoice, so no answer says what its status is. Correct invoice.status in the service profile.`;
    this.#notes.note(STATUS_MISSING, message);
  }

  /** An event has called an invoice issued of which a GET has this word. */
  #agreed(word: string): void {
    const first = this.#firstWord;
    if (first !== null && first !== word && this.#words.isEarly(first)) {
      const message = `Answers to the creation of invoices say ${shownWord(first)}, which invoice.issued lists, and later ${shownWord(word)}: the first word is not final, so a GET with it settles nothing. Remove it from invoice.issued in the service profile.`;
      this.#notes.note(ISSUED_EARLY, message);
    }
    this.#words.agreed(word);
  }
}
