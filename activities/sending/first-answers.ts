import type { Semaphore } from '../../src/concurrency/semaphore.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { CreateAnswer } from '../../src/domain/ports/invoicing-service.ts';

/** Code of the reason for which nothing is sent when the profile cannot read the service. */
export const ANSWERS_UNREADABLE = 'answers-unreadable';

/** Answers that cannot be read: after so many it is the profile, and no single answer. */
const MOST_UNREADABLE = 5;
/** Codes of answers that came whole, and in which the profile finds no success and no error. */
const UNREADABLE =
  /^(?:answer-(?:without-id|id-unusable|not-a-success|unreadable|contradictory)|http-4\d\d-unreadable)$/;

/** Answers that show that the profile finds what it looks for. */
const READ: ReadonlySet<CreateAnswer['kind']> = new Set(['created', 'refused', 'key-mismatch']);

/** The first answers that a process gets of the service. */
export interface FirstAnswers {
  /** Notes an answer; tells why nothing more may be sent when the profile cannot read this service, else null. */
  note(answer: CreateAnswer): Reason | null;
}

/**
 * A service profile that reads the answers wrongly is found out by the first few of them, and not by a whole file: until one answer is read, POSTs go one
 * after the other. Each of them may have created an invoice, which the same key finds again once the profile is corrected.
 */
export function createFirstAnswers(concurrency: Pick<Semaphore, 'resize'>, most: number): FirstAnswers {
  let unreadable = 0;
  let proved = false;
  concurrency.resize(1);

  return {
    note(answer) {
      if (proved || answer.kind === 'not-permitted') return null;
      if (answer.kind !== 'lost' || !UNREADABLE.test(answer.reason.code)) {
        // An outage is the circuit breaker's: one POST after the other, it would be seen late. It proves nothing of the profile.
        proved = READ.has(answer.kind);
        concurrency.resize(most);
        return null;
      }
      concurrency.resize(1);
      unreadable += 1;
      if (unreadable < MOST_UNREADABLE) return null;
      const message = `The service profile cannot read the answers of the service: ${unreadable} came whole, and none was read (the last: ${answer.reason.message}). Correct the file named by SERVICE_PROFILE and start Lote again: what was sent is then asked for under the same key.`;
      return { code: ANSWERS_UNREADABLE, message };
    },
  };
}
