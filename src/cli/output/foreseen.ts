import { LoteError } from '../../domain/errors.ts';

/** The error in words for a person, or null: nobody has foreseen it. */
export async function foreseen(error: unknown): Promise<LoteError | null> {
  if (error instanceof LoteError) return error;
  // Only here: most commands need no Temporal, and its client takes long to load.
  const temporal = await import('../../runtime/temporal/temporal-failure.ts').catch(() => null);
  return temporal?.temporalFailure(error) ?? null;
}

/** All that is known of an error that nobody has foreseen: its stack, and what its causes say. */
export function unforeseen(error: unknown): string {
  if (!(error instanceof Error)) return `Unforeseen: ${String(error)}`;
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error; { cause } = cause) causes.push(`\n  because: ${cause.message}`);
  return `Unforeseen: ${error.stack ?? error.message}${causes.join('')}`;
}
