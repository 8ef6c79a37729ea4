import { stat } from 'node:fs/promises';
import { LoteError } from '../../domain/errors.ts';
import { CheckMemory, heapLimit } from '../files/check-memory.ts';
import { LARGEST_UPLOAD } from './keep-upload.ts';

/** Each reads its whole file, beside the batches that run in this process. */
const MOST_AT_ONCE = 2;

/** The other half of the memory is for the batches that run in this process. */
const SHARE_OF_CHECKS = 0.5;

/** What the rows of all dry runs of the console take, whichever page asked for them. */
export const CONSOLE_CHECK_MEMORY = new CheckMemory(
  heapLimit() * SHARE_OF_CHECKS,
  'Run `lote check FILE`, or `lote run FILE`, which needs no such memory.',
);

/** Checks a few files at once; a caller beyond that must come again later. */
export function atMostAtOnce<Call extends readonly unknown[], Result>(
  check: (...call: Call) => Promise<Result>,
  most = MOST_AT_ONCE,
): (...call: Call) => Promise<Result> {
  let running = 0;
  return async (...call) => {
    if (running >= most) {
      throw new LoteError(
        'checks-busy',
        `Checking a file: at most ${most} are checked at once, and so many are. Load this page again in a moment.`,
      );
    }
    running += 1;
    try {
      return await check(...call);
    } finally {
      running -= 1;
    }
  };
}

/** @throws LoteError `usage` for a file that is larger than one that the console would have received */
export async function requireCheckable(path: string): Promise<void> {
  const { size } = await stat(path);
  if (size <= LARGEST_UPLOAD) return;
  throw new LoteError(
    'usage',
    `Checking a file: the console checks files of at most ${Math.floor(LARGEST_UPLOAD / 1024 / 1024)} MB, found a larger one. Run: lote check FILE`,
  );
}
