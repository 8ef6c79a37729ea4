import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  acquireDirectoryLock,
  currentOwner,
  networkFileSystemOfType,
  watchDirectory,
} from '../../../../src/app/data-dir/directory-lock.ts';
import {
  bindMount,
  NETWORK_NAMESPACE,
  OTHER_USER,
  PID_NAMESPACE,
  whyNoNamespaces,
  type Sandboxed,
} from '../../../support/namespaces.ts';
import { smallDisk } from '../../../support/crash/small-disk.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { compiledProcess } from '../../../support/compiled-process.ts';

const LOCK_PROCESS = await compiledProcess(new URL('../lock-process.ts', import.meta.url));
const STARTS_AT_ONCE = 6;
const whyNot = whyNoNamespaces();
if (whyNot !== null) console.warn(`directory lock: tests in namespaces are left out; ${whyNot}`);

interface Contender {
  readonly child: ChildProcess;
  /** `owner`, `refused`, or the sentence of an error. */
  readonly word: Promise<string>;
}

function contend(directory: string, inside?: Sandboxed): Contender {
  const command = [process.execPath, LOCK_PROCESS, directory];
  const [program = '', ...parameters] = inside === undefined ? command : inside.wrap(command);
  const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const word = once(child.stdout, 'data').then(([bytes]: unknown[]) => String(bytes).trim());
  return { child, word };
}

async function killed({ child }: Contender): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** The lock of a directory until the test ends. */
async function locked(directory: string) {
  const lock = await acquireDirectoryLock(directory);
  if (lock === null) throw new Error('expected the lock');
  onTestFinished(() => lock.release());
  return lock;
}

describe('the lock of a directory', () => {
  it('gives one owner when many processes start at once', async () => {
    const directory = await temporaryDirectory();

    const words = await Promise.all(Array.from({ length: STARTS_AT_ONCE }, () => contend(directory).word));

    expect(words.filter((word) => word === 'owner')).toHaveLength(1);
    expect(words.filter((word) => word === 'refused')).toHaveLength(STARTS_AT_ONCE - 1);
  });

  it('is taken over after its owner was killed with SIGKILL, by one of many', async () => {
    const directory = await temporaryDirectory();
    const owner = contend(directory);
    expect(await owner.word).toBe('owner');
    expect(await acquireDirectoryLock(directory)).toBeNull();

    await killed(owner);
    const locks = await Promise.all(Array.from({ length: STARTS_AT_ONCE }, () => acquireDirectoryLock(directory)));

    expect(locks.filter((lock) => lock !== null)).toHaveLength(1);
    for (const lock of locks) await lock?.release();
  });

  it('stays with an owner that is stopped', async () => {
    const directory = await temporaryDirectory();
    const owner = contend(directory);
    expect(await owner.word).toBe('owner');

    owner.child.kill('SIGSTOP');

    expect(await acquireDirectoryLock(directory)).toBeNull();
    expect(currentOwner(directory)).not.toBeNull();
  });

  it('refuses a second owner in the same process, by whatever path', async () => {
    const directory = await temporaryDirectory();
    const alias = join(await temporaryDirectory(), 'alias');
    await symlink(directory, alias);
    await locked(directory);

    for (const path of [directory, alias]) expect(await acquireDirectoryLock(path)).toBeNull();
  });

  it.each(['', '{"owner":', '[]', '{"pid":1}'])('is taken over from a file that holds %j', async (content) => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'lote.lock'), content);

    const { owner } = await locked(directory);

    expect(currentOwner(directory)).toBe(owner);
  });

  it('refuses on a full disk, says so, and leaves the directory free', async ({ skip }) => {
    const disk = await smallDisk(1);
    if (disk === null) return skip();
    onTestFinished(() => disk.remove());
    disk.fill();

    await expect(acquireDirectoryLock(disk.path)).rejects.toMatchObject({
      code: 'folder-unusable',
      message: expect.stringContaining('(LOTE_DATA_DIR)') as string,
    });
    disk.empty();
    await (await locked(disk.path)).release();
  });

  it('refuses, and says why, when the lock file cannot be opened', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'lote.lock'));

    await expect(acquireDirectoryLock(directory)).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining('Whether another process owns the directory cannot be told') as string,
    });
  });
});

describe.skipIf(whyNot !== null)('the lock of a directory, tried from', () => {
  it.each([NETWORK_NAMESPACE, PID_NAMESPACE])('$name is refused while its owner lives', async (inside) => {
    const directory = await temporaryDirectory();
    const lock = await locked(directory);

    expect(await contend(directory, inside).word).toBe('refused');

    await lock.release();
    expect(await contend(directory, inside).word).toBe('owner');
  });

  it.each([NETWORK_NAMESPACE, PID_NAMESPACE])('outside is refused while the owner lives in $name', async (inside) => {
    const directory = await temporaryDirectory();
    const owner = contend(directory, inside);
    expect(await owner.word).toBe('owner');
    expect(await acquireDirectoryLock(directory)).toBeNull();

    await killed(owner);

    await expect.poll(async () => (await acquireDirectoryLock(directory)) !== null).toBe(true);
  });

  it('a bind mount is refused while its owner lives', async () => {
    const [directory, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
    await locked(directory);

    expect(await contend(elsewhere, bindMount(directory, elsewhere)).word).toBe('refused');
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('another account is refused while its owner lives, also where it may not even look', async () => {
    const directory = await temporaryDirectory();
    await chmod(directory, 0o777);
    await locked(directory);

    expect(await contend(directory, OTHER_USER).word).toContain('cannot be told');
    await chmod(join(directory, 'lote.lock'), 0o666);
    expect(await contend(directory, OTHER_USER).word).toBe('refused');
  });
});

describe('the owner of a directory', () => {
  it('is known while it holds the lock, and named anew each time', async () => {
    const directory = await temporaryDirectory();
    expect(currentOwner(directory)).toBeNull();
    const first = await locked(directory);
    expect(currentOwner(directory)).toBe(first.owner);

    await first.release();
    expect(currentOwner(directory)).toBeNull();

    const second = await locked(directory);
    expect(currentOwner(directory)).toBe(second.owner);
    expect(second.owner).not.toBe(first.owner);
  });

  it('cannot be kept out by those who only ask for it', async () => {
    const directory = await temporaryDirectory();
    let asking = true;
    const asks = (async () => {
      while (asking) {
        currentOwner(directory);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();

    for (let start = 0; start < 50; start += 1) await (await locked(directory)).release();

    asking = false;
    await asks;
  });

  it('does not exist once its lock file was removed', async () => {
    const directory = await temporaryDirectory();
    await locked(directory);

    await rm(join(directory, 'lote.lock'));

    expect(currentOwner(directory)).toBeNull();
  });
});

describe('a data directory that is owned', () => {
  it.each([
    ['is removed', (path: string) => rm(path, { recursive: true })],
    [
      'is moved away, and another process owns a new one in its place',
      async (path: string) => {
        await rename(path, `${path}-moved`);
        await mkdir(path);
        await locked(path);
      },
    ],
  ])('is lost to its owner when it %s', async (_, lose) => {
    const path = join(await temporaryDirectory(), 'data');
    await mkdir(path);
    const lock = await locked(path);
    const lost = new Promise((resolve) => {
      const watch = watchDirectory(path, lock, resolve, 1);
      onTestFinished(() => watch.stop());
    });

    await lose(path);

    expect(await lost).toMatchObject({
      code: 'folder-unusable',
      message: expect.stringContaining('removed or moved away') as string,
    });
  });
});

describe('a network file system', () => {
  it.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'SMB (CIFS)'],
    [0xff534d42 | 0, 'SMB (CIFS)'],
    [0xfe534d42, 'SMB 2'],
    [0xef53, null],
    [0x01021994, null],
  ])('of type %i is %s', (type, name) => {
    expect(networkFileSystemOfType(type)).toBe(name);
  });
});
