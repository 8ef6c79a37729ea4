import { acquireDirectoryLock } from '../../../src/app/data-dir/directory-lock.ts';

// A process of its own for the lock tests: says what it got, and holds it until it is killed.
const [, , directory = ''] = process.argv;
try {
  const lock = await acquireDirectoryLock(directory);
  process.stdout.write(lock === null ? 'refused\n' : 'owner\n');
  if (lock !== null) setInterval(() => undefined, 1_000);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
