import { setTimeout as sleep } from 'node:timers/promises';

/** The answer, or null when it takes longer than this: it goes on, and what becomes of it then is not told any more. */
export function answerWithin<Answer>(patienceMs: number, answer: Promise<Answer>): Promise<Answer | null> {
  answer.catch(() => undefined);
  return Promise.race([answer, sleep(patienceMs, null, { ref: false })]);
}
