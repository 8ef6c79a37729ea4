import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Of disk and of memory that this process may have, in a container too; a whole run holds a fraction of this in files at any time. */
const ENOUGH_BYTES = 8 * 2 ** 30;
/** Folder of one run, by the id of its process. */
const OF_A_RUN = /^lote-tests-(\d+)$/u;

/** Where the tests of a run put their files. */
export interface TemporaryFiles {
  readonly directory: string;
  readonly inMemory: boolean;
}

/**
 * In memory where the machine has enough of it, because each new ledger and each commit waits for the disk, and all tests for the same one. What the
 * product asks of the disk is tested where it is the subject (`pglite-durability.test.ts`), and a process that is killed leaves the same files on every
 * file system. The folder goes with its run; one of a run that was killed goes with the next run. `TMPDIR` overrides it.
 */
export function temporaryFiles(env: NodeJS.ProcessEnv): TemporaryFiles {
  const given = env['TMPDIR'] ?? '';
  if (given !== '') return { directory: given, inMemory: given.startsWith(MEMORY) };
  if (!isUsable()) return { directory: tmpdir(), inMemory: false };
  removeAbandoned();
  const directory = join(MEMORY, `lote-tests-${process.pid}`);
  mkdirSync(directory, { recursive: true });
  process.once('exit', () => removeIfFree(directory));
  return { directory, inMemory: true };
}

function isUsable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) > ENOUGH_BYTES && takesPrograms();
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

function removeAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = OF_A_RUN.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) removeIfFree(join(MEMORY, name));
  }
}

/** A small disk that a killed test has left mounted keeps its folder, and no later run from starting. */
function removeIfFree(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    console.warn(`${folder} stays: a file system is mounted in it. Unmount it to have its memory back.`);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
