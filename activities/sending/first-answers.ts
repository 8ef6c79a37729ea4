import type { Semaphore } from '../../src/concurrency/semaphore.ts';
import { SERVICE_IDS_REPEATED } from '../../src/domain/circuit-reasons.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { CreateAnswer } from '../../src/domain/ports/invoicing-service.ts';
import { createUnreadRefusals } from './unread-refusals.ts';

/** Code of the reason for which nothing is sent when the profile cannot read the service. */
export const ANSWERS_UNREADABLE = 'answers-unreadable';

/** Answers that cannot be read: after so many it is the profile, and no single answer. */
const MOST_UNREADABLE = 5;
/** Codes of answers that came whole, and in which the profile finds no success and no error. */
const UNREADABLE =
  /^(?:answer-(?:without-id|id-unusable|not-a-success|unreadable|contradictory)|http-4\d\d-unreadable)$/;
/** These of them say that the place of the errors is wrong; the others say it of the id, or of what a success is. */
const UNREADABLE_ERROR = /^http-/;
/** Ids that are compared with each other, and how often one of them may come for another key. */
const FIRST_IDS = 100;
const MOST_REPEATED_IDS = 1;
/** One id may be that of everything. */
const DIFFERENT_IDS = 2;

/** Answers that show that the profile finds the errors of the service. */
const ERROR_READ: ReadonlySet<CreateAnswer['kind']> = new Set(['refused', 'key-mismatch']);

/** The first answers that a process gets of the service. */
export interface FirstAnswers {
  /** Notes an answer to a key; tells why nothing more may be sent when the profile cannot read this service, else null. */
  note(answer: CreateAnswer, key: string): Reason | null;
}

/**
 * A service profile that reads the answers wrongly is found out by the first few of them, and not by a whole file: until one answer is read, and two ids
 * differ, POSTs go one after the other. Each of them may have created an invoice, which the same key finds again once the profile is corrected. An answer that is read proves the
 * place of the id or that of the errors, not both: ids that cannot be read stop the sending also after a refusal, refusals that cannot be read stop it while
 * others are created, and so does an id that is the same for several keys.
 */
export function createFirstAnswers(
  concurrency: Pick<Semaphore, 'resize'>,
  most: number,
  onUnreadRefusal: (message: string) => void = () => undefined,
): FirstAnswers {
  const refusals = createUnreadRefusals(onUnreadRefusal);
  const keyOf = new Map<string, string>();
  let repeatedIds = 0;
  let unreadable = 0;
  let idProved = false;
  let errorProved = false;
  let isOpen = false;
  concurrency.resize(1);

  function openUp(): void {
    if (!isOpen) concurrency.resize(most);
    isOpen = true;
  }

  function repeatedId({ serviceId }: Extract<CreateAnswer, { kind: 'created' }>, key: string): Reason | null {
    const owner = keyOf.get(serviceId);
    if (owner === undefined && keyOf.size < FIRST_IDS) keyOf.set(serviceId, key);
    if (owner === undefined || owner === key) return null;
    repeatedIds += 1;
    if (repeatedIds <= MOST_REPEATED_IDS) return null;
    const message = `The service profile finds the same id in the answers to ${repeatedIds + 1} or more invoices: what stands at invoice.id is not the id of the invoice. Correct the file named by SERVICE_PROFILE and start Lote again.`;
    return { code: SERVICE_IDS_REPEATED, message };
  }

  return {
    note(answer, key) {
      if (answer.kind === 'created') {
        const repeated = repeatedId(answer, key);
        if (repeated !== null) return repeated;
      }
      const refused = refusals.note(answer, key);
      if (refused !== null) return { code: ANSWERS_UNREADABLE, message: refused };
      if (answer.kind === 'created' && keyOf.size >= DIFFERENT_IDS) openUp();
      if (idProved || answer.kind === 'not-permitted') return null;
      if (answer.kind !== 'lost' || !UNREADABLE.test(answer.reason.code)) {
        // An outage is the circuit breaker's: one POST after the other, it would be seen late. It proves nothing of the profile.
        idProved = answer.kind === 'created';
        errorProved ||= ERROR_READ.has(answer.kind);
        if (answer.kind !== 'created') openUp();
        return null;
      }
      if (errorProved && UNREADABLE_ERROR.test(answer.reason.code)) return null;
      concurrency.resize(1);
      isOpen = false;
      unreadable += 1;
      if (unreadable < MOST_UNREADABLE) return null;
      const message = `The service profile cannot read the answers of the service: ${unreadable} came whole, and none was read (the last: ${answer.reason.message}). Correct the file named by SERVICE_PROFILE and start Lote again: it then repeats what was sent, under the same key.`;
      return { code: ANSWERS_UNREADABLE, message };
    },
  };
}
