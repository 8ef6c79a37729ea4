import { z } from 'zod';

const PERCENT = /^(\d{1,3}(?:\.\d+)?)\s*%$/;

/** A share of the environment, written `50%`, as a fraction from 0 to 1. */
export const EnvPercent = z.string().transform((text, context): number => {
  const percent = Number(PERCENT.exec(text)?.[1] ?? Number.NaN);
  if (percent >= 0 && percent <= 100) return percent / 100;
  context.addIssue({ code: 'custom', message: 'must be a percentage from 0% to 100%' });
  return z.NEVER;
});
