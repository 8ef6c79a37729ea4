import { acquireDirectoryLock, lockByFile } from '../../../src/runtime/directory-lock.ts';

// A process of its own for the lock tests: says what it got, and holds it until it is killed.
const [, , kind, directory = ''] = process.argv;
const lock = await (kind === 'file' ? lockByFile(directory) : acquireDirectoryLock(directory));
process.stdout.write(lock === null ? 'refused\n' : 'owner\n');
if (lock !== null) setInterval(() => undefined, 1_000);
