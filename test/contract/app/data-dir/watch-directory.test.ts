import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { acquireDirectoryLock, type DirectoryLock } from '../../../../src/app/data-dir/directory-lock.ts';
import { watchDirectory } from '../../../../src/app/data-dir/watch-directory.ts';

async function owned() {
  const parent = await mkdtemp(join(tmpdir(), 'lote-watch-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const path = join(parent, 'data');
  await mkdir(path);
  const { owner } = await lockOf(path);
  const watch = watchDirectory({ path, owner, everyMs: 1 });
  onTestFinished(() => watch.release());
  return { parent, path, watch };
}

async function lockOf(path: string): Promise<DirectoryLock> {
  const lock = (await acquireDirectoryLock(path)) as DirectoryLock;
  onTestFinished(() => lock.release());
  return lock;
}

it('a data directory that was removed is lost to its owner', async () => {
  const { path, watch } = await owned();
  await rm(path, { recursive: true });

  await expect(watch.lost).rejects.toThrow('removed or moved away');
});

it('a data directory that was moved away is lost to its owner, also when another process owns a new one there', async () => {
  const { parent, path, watch } = await owned();
  await rename(path, join(parent, 'moved'));
  await mkdir(path);
  await lockOf(path);

  await expect(watch.lost).rejects.toMatchObject({ code: 'folder-unusable' });
});
