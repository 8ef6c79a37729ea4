import { sayingWaits } from '../platform/waiting-for.ts';
import { goOnWithoutReaders, lineWriter, terminalText, foreseen, unforeseen } from './output/terminal-text.ts';
import { EXIT, exitCodeOf } from './output/exit-codes.ts';
import { program } from './program.ts';

goOnWithoutReaders();

try {
  await sayingWaits(lineWriter({ json: false }), () => program.parseAsync());
} catch (error) {
  process.exitCode = await report(error);
}

/** Reports an error and returns its exit code. Commander prints its own errors; any other one becomes a sentence on stderr, with `--json` also a document. */
async function report(error: unknown): Promise<number> {
  if (error instanceof Error && 'exitCode' in error && 'code' in error && String(error.code).startsWith('commander.')) {
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  const known = await foreseen(error);
  const message = known === null ? unforeseen(error) : known.message;
  process.stderr.write(`lote: ${terminalText(message)}\n`);
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ batches: [], error: { code: known?.code ?? 'internal', message } })}\n`);
  }
  return exitCodeOf(error);
}
