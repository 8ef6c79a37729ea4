import { answerWithin } from '../../app/temporal/calls.ts';
import { causeCode } from '../../platform/error-code.ts';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';

/** One finding of the doctor. */
export interface Check {
  /** A stable name, for scripts. */
  readonly name: string;
  /** `unknown`: the doctor could not check this, or no action is needed now. */
  readonly state: 'ok' | 'trouble' | 'unknown';
  /** The finding. Never contains a secret. */
  readonly detail: string;
  /** The action for the operator; null if none is needed. */
  readonly cure: string | null;
}

/** Returns a finding without trouble. */
export function fine(name: string, detail: string): Check {
  return { name, state: 'ok', detail, cure: null };
}

/** Returns a finding that an operator must act on. */
export function trouble(name: string, detail: string, cure: string): Check {
  return { name, state: 'trouble', detail, cure };
}

/** Returns a finding that could not be checked, or that may become trouble later. */
export function unknown(name: string, detail: string, cure: string | null = null): Check {
  return { name, state: 'unknown', detail, cure };
}

/** Runs checks. Returns their findings, or a trouble if they fail or take longer than `patienceMs`. */
export async function within(
  name: string,
  patienceMs: number,
  checks: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  const found = await answerWithin(
    patienceMs,
    waitingFor(name === 'temporal' ? 'Temporal' : `the ${name}`, checks).catch((error: unknown) => [
      trouble(name, errorText(error), 'See the log of the process that uses it.'),
    ]),
  );
  const seconds = Number((patienceMs / 1_000).toFixed(1));
  return (
    found ?? [trouble(name, `It did not answer within ${seconds} s.`, 'See whether it hangs, or the network does.')]
  );
}

/** Returns the message of a LoteError; of another error only the code or kind, because its text may repeat a secret. */
export function errorText(error: unknown): string {
  if (error instanceof LoteError) return error.message;
  const kind = error instanceof Error ? error.name : typeof error;
  return `It failed (${causeCode(error) || kind}).`;
}

/** Signatures and retention windows are counted in minutes; a larger difference would affect them. */
const TOLERANCE_MS = 30_000;

/**
 * Checks whether two clocks agree, by their times in epoch milliseconds. `whose` names the other clock, such as `the
 * service's`. Ignores one second, because the other clock may show whole seconds.
 */
export function clockCheck(
  name: string,
  { theirs, ours, whose }: { readonly theirs: number; readonly ours: number; readonly whose: string },
): Check {
  const apart = Math.max(0, Math.abs(ours - theirs) - 1_000);
  const seconds = Math.round(apart / 1_000);
  return apart <= TOLERANCE_MS
    ? fine(name, seconds === 0 ? `agrees with ${whose}` : `${seconds} s from ${whose}`)
    : trouble(name, `${seconds} s from ${whose}.`, "Set this machine's clock (NTP).");
}
