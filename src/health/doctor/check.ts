import { setTimeout as sleep } from 'node:timers/promises';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';

/** One thing that was looked at. */
export interface Check {
  /** Stable, for scripts. */
  readonly name: string;
  /** `unknown`: it could not be looked at, or needs no hand now. */
  readonly state: 'ok' | 'trouble' | 'unknown';
  /** What was found. Never a secret. */
  readonly detail: string;
  /** What to do; null: nothing. */
  readonly cure: string | null;
}

/** It is as it must be. */
export function fine(name: string, detail: string): Check {
  return { name, state: 'ok', detail, cure: null };
}

/** It must be mended. */
export function trouble(name: string, detail: string, cure: string): Check {
  return { name, state: 'trouble', detail, cure };
}

/** It could not be looked at, or is to be known before it becomes trouble. */
export function unknown(name: string, detail: string, cure: string | null = null): Check {
  return { name, state: 'unknown', detail, cure };
}

/** The checks, or trouble when they take longer than `patienceMs` or fail. */
export async function within(
  name: string,
  patienceMs: number,
  checks: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  const late = sleep(patienceMs, null, { ref: false });
  const found = await Promise.race([
    waitingFor(name === 'temporal' ? 'Temporal' : `the ${name}`, checks).catch((error: unknown) => [
      trouble(name, errorText(error), 'See the log of the process that uses it.'),
    ]),
    late,
  ]);
  const seconds = Number((patienceMs / 1_000).toFixed(1));
  return (
    found ?? [trouble(name, `It did not answer within ${seconds} s.`, 'See whether it hangs, or the network does.')]
  );
}

/** Lote's own words; of another error its code and kind only, because its text may repeat a secret. */
export function errorText(error: unknown): string {
  if (error instanceof LoteError) return error.message;
  const code = codeOf(error);
  return `It failed (${code === '' ? kindOf(error) : code}).`;
}

/** Code of an error, or of what caused it; empty when there is none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' ? code : codeOf(cause);
}

function kindOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** Signatures and retention windows are counted in minutes; more than this shows in them. */
const TOLERANCE_MS = 30_000;

/** Two clocks in epoch milliseconds, and whose the other one is, such as `the service's`. */
export interface TwoClocks {
  readonly theirs: number;
  readonly ours: number;
  readonly whose: string;
}

/** Whether two clocks agree, up to a second that a clock in whole seconds hides. */
export function clockCheck(name: string, { theirs, ours, whose }: TwoClocks): Check {
  const apart = Math.max(0, Math.abs(ours - theirs) - 1_000);
  const seconds = Math.round(apart / 1_000);
  return apart <= TOLERANCE_MS
    ? fine(name, seconds === 0 ? `agrees with ${whose}` : `${seconds} s from ${whose}`)
    : trouble(name, `${seconds} s from ${whose}.`, "Set this machine's clock (NTP).");
}
