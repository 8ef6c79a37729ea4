import { errorCode } from '../../file-system/error-code.ts';
import { EXIT } from './exit-codes.ts';

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
