import { plainText } from '../../texts/fill.ts';
import { errorCode } from '../../platform/error-code.ts';
import { EXIT } from './exit-codes.ts';
import { LoteError } from '../../domain/errors.ts';

/** Makes lines safe for a terminal: file names, headers and the service's words may hold characters that a terminal treats as a command. */
export function terminalText(text: string): string {
  return text
    .split('\n')
    .map((line) => plainText(line))
    .join('\n');
}

/** Formats the lines of a table, its columns two spaces apart. Columns from `right` on hold numbers. */
export function tableLines(rows: readonly (readonly string[])[], right = Number.POSITIVE_INFINITY): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, at: number): string =>
    at < right ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0);
  return rows.map((row) => row.map(padded).join('  ').trimEnd());
}

/** Formats a time as `2026-11-21 12:00`, by default in the machine's time zone, because a person reads it. */
export function localTime(time: Date | number, timeZone?: string): string {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone }).format(time);
}

/** Prints the result of a command on stdout: one JSON document, or text for a person. */
export function printResult(json: boolean, document: unknown, text: () => string): void {
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : text());
}

/** Writes lines for people to stderr, or nothing if a program reads the output (`--json`). */
export function lineWriter({ json }: { readonly json: boolean }): (line: string) => void {
  return (line) => void (json || process.stderr.write(`${terminalText(line)}\n`));
}

/**
 * Lets the work go on if the output has no reader: a reader that left (`head`), a closed terminal, a log file on a full
 * disk. Otherwise the process would end at the next line, in the middle of a batch or of its stop. If a result is lost
 * for any reason but a reader that left, Lote says so on standard error, and exit code `0` becomes `3`.
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

/** Returns the error in words for a person, or null for an unexpected error. */
export async function foreseen(error: unknown): Promise<LoteError | null> {
  if (error instanceof LoteError) return error;
  // Loads Temporal's client only here: most commands do not need it, and it takes long to load.
  const temporal = await import('../../app/temporal/calls.ts').catch(() => null);
  return temporal?.temporalFailure(error) ?? null;
}

/** Returns the stack of an unexpected error and the messages of its causes. */
export function unforeseen(error: unknown): string {
  if (!(error instanceof Error)) return `Unforeseen: ${String(error)}`;
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error; { cause } = cause) causes.push(`\n  because: ${cause.message}`);
  return `Unforeseen: ${error.stack ?? error.message}${causes.join('')}`;
}
