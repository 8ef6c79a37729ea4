import { readFileSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Of disk and of memory; a whole run holds a fraction of this in files at any time. */
const ENOUGH_BYTES = 8 * 2 ** 30;

/**
 * The directory of the tests' files: in memory where the machine has enough of it, because each new ledger and each commit waits for the disk, and all
 * tests for the same one. What the product asks of the disk is tested where it is the subject (`pglite-durability.test.ts`), and a process that is
 * killed leaves the same files on every file system. `TMPDIR` overrides it.
 */
export function temporaryFiles(env: NodeJS.ProcessEnv): string {
  const given = env['TMPDIR'] ?? '';
  if (given !== '') return given;
  return isUsable() ? MEMORY : tmpdir();
}

function isUsable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) > ENOUGH_BYTES && takesPrograms();
  } catch {
    return false;
  }
}

/** Some tests put a script there and run it, which containers often forbid. */
function takesPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const options = mounts.find((line) => line.split(' ')[1] === MEMORY)?.split(' ')[3] ?? 'noexec';
  return !options.split(',').includes('noexec');
}
