import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireDirectoryLock, lockByFile } from '../../../src/runtime/directory-lock.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const LOCK_PROCESS = fileURLToPath(new URL('lock-process.ts', import.meta.url));

interface Contender {
  readonly child: ChildProcess;
  readonly word: Promise<string>;
}

function contend(kind: 'system' | 'file', directory: string): Contender {
  const child = spawn(process.execPath, ['--import', 'tsx', LOCK_PROCESS, kind, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const word = once(child.stdout, 'data').then(([bytes]: unknown[]) => String(bytes).trim());
  return { child, word };
}

async function killed({ child }: Contender): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

const KINDS = [
  { kind: 'system' as const, acquire: acquireDirectoryLock },
  { kind: 'file' as const, acquire: lockByFile },
];

describe.each(KINDS)('the $kind lock of a directory', ({ kind, acquire }) => {
  it('gives one owner when two processes start at once', async () => {
    const directory = await temporaryDirectory();

    const words = await Promise.all([contend(kind, directory).word, contend(kind, directory).word]);

    expect(words.sort()).toEqual(['owner', 'refused']);
  });

  it('is taken over after its owner was killed with SIGKILL', async () => {
    const directory = await temporaryDirectory();
    const owner = contend(kind, directory);
    expect(await owner.word).toBe('owner');
    expect(await acquire(directory)).toBeNull();

    await killed(owner);

    const lock = await acquire(directory);
    expect(lock).not.toBeNull();
    await lock?.release();
  });

  it('refuses a second owner in the same process', async () => {
    const directory = await temporaryDirectory();

    const first = await acquire(directory);
    const second = await acquire(directory);

    expect(first).not.toBeNull();
    expect(second).toBeNull();
    await first?.release();
  });

  it('is free again after a release, also one that is repeated', async () => {
    const directory = await temporaryDirectory();
    const first = await acquire(directory);

    await first?.release();
    await first?.release();

    const second = await acquire(directory);
    expect(second).not.toBeNull();
    await second?.release();
  });

  it('leaves other directories alone', async () => {
    const [one, other] = [await temporaryDirectory(), await temporaryDirectory()];

    const locks = [await acquire(one), await acquire(other)];

    expect(locks).not.toContain(null);
    for (const lock of locks) await lock?.release();
  });
});

describe('acquireDirectoryLock', () => {
  it('knows a directory by its real path', async () => {
    const directory = await temporaryDirectory();
    const alias = join(await temporaryDirectory(), 'alias');
    await symlink(directory, alias);
    const lock = await acquireDirectoryLock(directory);

    const throughAlias = await acquireDirectoryLock(alias);

    expect(throughAlias).toBeNull();
    await lock?.release();
  });
});

describe('lockByFile', () => {
  it.each([
    ['half a file', '{"pid":'],
    ['a living pid with another start time', JSON.stringify({ pid: process.pid, startTime: 'another' })],
    ['something else', '[]'],
  ])('takes over a lock file that holds %s', async (_, content) => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'lote.lock'), content);

    const lock = await lockByFile(directory);

    expect(lock).not.toBeNull();
    await lock?.release();
  });
});
