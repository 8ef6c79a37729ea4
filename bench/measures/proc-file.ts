import { closeSync, openSync, readSync } from 'node:fs';

/** Longer than any file of /proc that is read here. */
const buffer = Buffer.alloc(16_384);

/**
 * A short file of /proc; null where it is not there. `readFile` takes 64 KB for each of them, because they have no size, and to clear and collect what two
 * hundred of them take costs a bench that measures speed at the same time several percent of a core.
 */
export function procFile(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    // The process has ended meanwhile.
    return null;
  } finally {
    closeSync(file);
  }
}
