import type { z } from 'zod';
import { sameWord } from './place.ts';

/** A check of zod that reports contradicting settings. Zod runs the check only if the section itself is valid. */
type Check<Section> = (context: z.core.ParsePayload<Section>) => void;

function report({ issues, value: input }: z.core.ParsePayload, path: PropertyKey[], message: string): void {
  issues.push({ code: 'custom', input, path, message });
}

/** Reports a word that means both issued and failed. */
export const wordsOfOneMeaning: Check<{ issued: string[]; failed: string[] }> = (context) => {
  const { issued, failed } = context.value;
  for (const [index, word] of failed.entries()) {
    if (issued.some((other) => sameWord(word, other)))
      report(context, ['failed', index], `no word may stand in both issued and failed, found ${JSON.stringify(word)}`);
  }
};

interface Rule {
  status?: number[] | undefined;
  code?: string[] | undefined;
  means: string;
}

/** Reports a word that means both that nothing was created and that the key already created another invoice. */
export const mismatchIsNoRefusal: Check<{ answers: { rules: Rule[] }; idempotency: { mismatchCodes: string[] } }> = (
  context,
) => {
  const { answers, idempotency } = context.value;
  for (const [index, { code = [], means, status }] of answers.rules.entries()) {
    if (means !== 'refused' || status?.some((one) => one >= 400 && one < 500) === false) continue;
    for (const [at, word] of code.entries()) {
      if (!idempotency.mismatchCodes.some((other) => sameWord(word, other))) continue;
      const message = `must not mean refused, for idempotency.mismatchCodes says that the key is known with other bytes, found ${JSON.stringify(word)}`;
      report(context, ['answers', 'rules', index, 'code', at], message);
    }
  }
};
