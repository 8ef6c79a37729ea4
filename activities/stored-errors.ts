import type { CreateAnswer } from '../src/domain/ports/invoicing-service.ts';

/** The same words this often to one key, from a service that answers other questions, are kept under the key: asking on brings nothing. */
const SAME_ANSWERS = 12;

/** An error of the server itself, by the words that the client gives every status. */
const SERVER_ERROR = /^HTTP 5\d\d/;

export interface StoredErrors {
  /** Notes the answer to a key; true when it is an error that the service keeps under that key, if it is not away altogether. */
  note(key: string, answer: CreateAnswer): boolean;
}

/** Some services keep a 500 under the Idempotency-Key for ever. Kept in memory: a restart only counts again. */
export function createStoredErrors(): StoredErrors {
  const seen = new Map<string, { readonly words: string; readonly times: number }>();
  return {
    note(key, answer) {
      if (answer.kind !== 'lost' || !SERVER_ERROR.test(answer.reason.message)) {
        seen.delete(key);
        return false;
      }
      const words = `${answer.reason.code} ${answer.reason.message}`;
      const before = seen.get(key);
      const times = before?.words === words ? before.times + 1 : 1;
      if (times < SAME_ANSWERS) {
        seen.set(key, { words, times });
        return false;
      }
      seen.delete(key);
      return true;
    },
  };
}
