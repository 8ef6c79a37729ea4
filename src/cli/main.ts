import { LoteError } from '../domain/errors.ts';
import { goOnWithoutReaders } from './output/output-streams.ts';
import { EXIT, exitCodeOf } from './output/exit-codes.ts';
import { nextCommand } from './output/next-command.ts';
import { program } from './program.ts';
import { terminalText } from './output/terminal-text.ts';

goOnWithoutReaders();

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

/** Commander has printed its own errors; everything else gets one sentence on stderr, and a document where one was asked for. */
function report(error: unknown): number {
  if (error instanceof Error && 'exitCode' in error && 'code' in error && String(error.code).startsWith('commander.')) {
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  const code = exitCodeOf(error);
  const known = error instanceof LoteError;
  const message = known
    ? error.message
    : `Unforeseen: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  process.stderr.write(`lote: ${terminalText(message)}\n${known ? nextCommand(error, process.argv) : ''}`);
  if (process.argv.includes('--json')) {
    process.stdout.write(
      `${JSON.stringify({ batches: [], error: { code: known ? error.code : 'internal', message } })}\n`,
    );
  }
  return code;
}
