import { sharedAnswer } from '../../concurrency/shared-answer.ts';
import type { Readiness } from '../../domain/ports/readiness.ts';
import { answerWithin } from '../temporal/answer-within.ts';

/** Whoever asks for health wants to know now; a probe's own time-out is a few seconds. */
const PATIENCE_MS = 2_000;

/**
 * Asks each part that a process cannot work without; a part that rejects, or does not answer within 2 s, is in trouble. Each is asked once at a
 * time: probes do not pile up questions for a database that is away.
 */
export function createReadiness(parts: Readonly<Record<string, () => Promise<unknown>>>): () => Promise<Readiness> {
  const questions = Object.entries(parts).map(([name, ask]) => ({ name, ask: sharedAnswer(async () => ask()) }));
  return async () => {
    const asked = questions.map(async ({ name, ask }) => {
      const answered = await answerWithin(
        PATIENCE_MS,
        ask().then(
          () => true,
          () => false,
        ),
      );
      return [name, answered === true ? 'ok' : 'trouble'] as const;
    });
    const found = await Promise.all(asked);
    const isReady = found.every(([, state]) => state === 'ok');
    return { status: isReady ? 'ready' : 'trouble', parts: Object.fromEntries(found) };
  };
}
