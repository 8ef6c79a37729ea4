import { setTimeout as sleep } from 'node:timers/promises';

/** The answer, or null when it takes longer than `ms`: then its result is ignored. */
export function answerWithin<Answer>(patienceMs: number, answer: Promise<Answer>): Promise<Answer | null> {
  answer.catch(() => undefined);
  return Promise.race([answer, sleep(patienceMs, null, { ref: false })]);
}
