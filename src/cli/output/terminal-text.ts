import { plainText } from '../../texts/fill.ts';
import { errorCode } from '../../platform/error-code.ts';
import { EXIT } from './exit-codes.ts';
import { LoteError } from '../../domain/errors.ts';

/** Lines for a terminal: names of files, headers and the service's words may hold what it takes for a command. */
export function terminalText(text: string): string {
  return text
    .split('\n')
    .map((line) => plainText(line))
    .join('\n');
}

/** The lines of a table, its columns two spaces apart. Columns from `right` on hold numbers. */
export function tableLines(rows: readonly (readonly string[])[], right = Number.POSITIVE_INFINITY): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, at: number): string =>
    at < right ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0);
  return rows.map((row) => row.map(padded).join('  ').trimEnd());
}

/** A time as `2026-11-21 12:00`: in the time zone of the machine by default, because a person reads it. */
export function localTime(time: Date | number, timeZone?: string): string {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone }).format(time);
}

/** Prints the result of a command on stdout: one JSON document, or text for a person. */
export function printResult(json: boolean, document: unknown, text: () => string): void {
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : text());
}

/** Writes lines for people to stderr; nothing where a program reads the output (`--json`). */
export function lineWriter({ json }: { readonly json: boolean }): (line: string) => void {
  return (line) => void (json || process.stderr.write(`${terminalText(line)}\n`));
}

/**
 * Lets the work go on without a reader of what the process prints: one that has left (`head`), a terminal that was closed, a log file on a full disk. Without
 * it the process would end at the next line, in the middle of a batch or of its stop. A result that could not be written for another reason than a
 * reader who has left is told on standard error, and an exit code `0` becomes `3`.
 */
export function goOnWithoutReaders(): void {
  process.stderr.on('error', () => undefined);
  let told = false;
  process.stdout.on('error', (error) => {
    const code = errorCode(error);
    if (told || code === 'EPIPE') return;
    told = true;
    process.stderr.write(
      `lote: Writing the result: standard output must take it, found ${code}. The work went on; lote status and lote report show its outcome.\n`,
    );
    process.once('exit', () => (process.exitCode ||= EXIT.unreachable));
  });
}

/** The error in words for a person; null for an unexpected error. */
export async function foreseen(error: unknown): Promise<LoteError | null> {
  if (error instanceof LoteError) return error;
  // Only here: most commands need no Temporal, and its client takes long to load.
  const temporal = await import('../../app/temporal/calls.ts').catch(() => null);
  return temporal?.temporalFailure(error) ?? null;
}

/** All that is known of an unexpected error: its stack and the messages of its causes. */
export function unforeseen(error: unknown): string {
  if (!(error instanceof Error)) return `Unforeseen: ${String(error)}`;
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error; { cause } = cause) causes.push(`\n  because: ${cause.message}`);
  return `Unforeseen: ${error.stack ?? error.message}${causes.join('')}`;
}
