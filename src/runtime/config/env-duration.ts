import ms from 'ms';
import { z } from 'zod';

/** Longer ones do not fit into a Node timer, which would then fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A bare number is refused: `15` would be 15 ms, and whoever writes it means minutes. */
const WITH_UNIT = /^\d+(\.\d+)?\s*[a-z]+$/i;

/** A duration of the environment, in `ms` syntax with a unit, as whole milliseconds. */
export const EnvDuration = z.string().transform((text, context): number => {
  const value = WITH_UNIT.test(text) ? ms(text as ms.StringValue) : Number.NaN;
  if (Number.isFinite(value) && value >= 1 && value <= LONGEST_TIMER_MS) return Math.round(value);
  context.addIssue({
    code: 'custom',
    message: 'must be a duration with a unit, such as 1500ms, 90s, 15m or 12h, of 24 days at most',
  });
  return z.NEVER;
});
