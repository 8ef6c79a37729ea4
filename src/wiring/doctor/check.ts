import { setTimeout as sleep } from 'node:timers/promises';
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
  /** Of several applications, the one that it is about; left out: all of them. */
  readonly application?: string;
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
    checks().catch((error: unknown) => [trouble(name, errorText(error), 'See the log of the process that uses it.')]),
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
