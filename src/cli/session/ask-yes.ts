import { createInterface } from 'node:readline/promises';
import { LoteError } from '../../domain/errors.ts';

/**
 * Asks on the terminal, where only `y` and `yes` are a yes.
 * @throws LoteError `usage` when there is no terminal to ask on.
 */
export async function askYes(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new LoteError(
      'usage',
      'Nobody can be asked here, because standard input is not a terminal. Nothing was sent. Add --yes to agree.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    return /^(?:y|yes)$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
