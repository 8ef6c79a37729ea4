import { mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { smallDisk } from '../../support/crash/small-disk.ts';
import { atFirst, drop, dropFolderAt, nobodyIsOpen, treeOf, nightNamed } from './drop-place.ts';
import type { ClaimedFile, Destination, NightlyRun } from '../../../src/domain/records/dropped-file.ts';

const NIGHT = nightNamed('a');

async function claimOne(inputDir: string, night: NightlyRun, text: string): Promise<ClaimedFile> {
  await drop(inputDir, 'x.csv', text);
  const { claimed } = await dropFolderAt(inputDir).claim(night, nobodyIsOpen);
  const last = claimed.at(-1);
  if (last === undefined) throw new Error('nothing was claimed');
  return last;
}

/** An input folder of its own in which one file is claimed. */
async function oneClaimed() {
  const inputDir = await temporaryDirectory();
  return { inputDir, file: await claimOne(inputDir, NIGHT, 'rows') };
}

/** A folder on another file system than this one; null: this machine has none for a test. */
async function folderElsewhere(inputDir: string): Promise<string | null> {
  const { dev } = await stat(inputDir);
  for (const place of ['/dev/shm', '/var/tmp', import.meta.dirname]) {
    const found = await stat(place).catch(() => null);
    if (found === null || found.dev === dev) continue;
    const folder = await mkdtemp(join(place, 'lote-elsewhere-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }
  return null;
}

function archive(inputDir: string, night: NightlyRun, file: ClaimedFile, destination: Destination = 'archive') {
  const note = 'Everything went out.';
  return dropFolderAt(inputDir).archive({ ...file, night, batchId: 'batch-x', destination, note });
}

describe('shelving a file', () => {
  it.each(['archive', 'refused'] as const)('moves it to %s/<date> with a note beside it', async (destination) => {
    const { inputDir, file } = await oneClaimed();

    const path = await archive(inputDir, NIGHT, file, destination);

    expect(path).toBe(`${destination}/2026-11-21/x.csv`);
    expect(await readFile(join(inputDir, path ?? ''), 'utf8')).toBe('rows');
    expect(await readFile(join(inputDir, `${path}.note.txt`), 'utf8')).toBe(
      `Everything went out.\n\nclaim: ${NIGHT.nightId}/0001\nread: batch-x ${file.size} ${file.changedAt}\n`,
    );
  });

  it('gives the second file of one name a number and overwrites nothing', async () => {
    const inputDir = await temporaryDirectory();
    const first = await claimOne(inputDir, NIGHT, 'first');
    await archive(inputDir, NIGHT, first);
    const second = await claimOne(inputDir, NIGHT, 'second');

    const path = await archive(inputDir, NIGHT, second);

    expect(path).toBe('archive/2026-11-21/x-2.csv');
    expect(await readFile(join(inputDir, 'archive/2026-11-21/x.csv'), 'utf8')).toBe('first');
    expect(await readFile(join(inputDir, 'archive/2026-11-21/x-2.csv'), 'utf8')).toBe('second');
  });

  it('shortens a name that leaves no room for that of its note', async () => {
    const inputDir = await temporaryDirectory();
    const paths: (string | null)[] = [];
    for (const text of ['first', 'second']) {
      await drop(inputDir, `${'ç'.repeat(125)}.csv`, text);
      const { claimed } = await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen);
      const file = claimed.at(-1);
      if (file !== undefined) paths.push(await archive(inputDir, NIGHT, file));
    }

    expect(paths).toEqual([`archive/2026-11-21/${'ç'.repeat(121)}.csv`, `archive/2026-11-21/${'ç'.repeat(120)}-2.csv`]);
    expect(await readFile(join(inputDir, paths[1] ?? ''), 'utf8')).toBe('second');
    expect(await readFile(join(inputDir, `${paths[1]}.note.txt`), 'utf8')).toContain('claim: ');
  });

  it('copies a file into an archive on another file system, and leaves nothing else there', async ({ skip }) => {
    const inputDir = await temporaryDirectory();
    const otherDir = await folderElsewhere(inputDir);
    if (otherDir === null) skip();
    else await symlink(otherDir, join(inputDir, 'archive'));
    const file = await claimOne(inputDir, NIGHT, 'rows');

    const path = await archive(inputDir, NIGHT, file);

    expect(path).toBe('archive/2026-11-21/x.csv');
    expect(await treeOf(inputDir)).toEqual([`in-progress/.${NIGHT.nightId}.json`]);
    expect(await treeOf(join(inputDir, 'archive/2026-11-21'))).toEqual(['x.csv', 'x.csv.note.txt']);
    expect(await readFile(join(inputDir, path ?? ''), 'utf8')).toBe('rows');
  });

  it('names an archive that is full, and leaves nothing there until it has room', async () => {
    const disk = await smallDisk(1);
    if (disk === null) return;
    onTestFinished(() => disk.remove());
    const inputDir = await temporaryDirectory();
    await symlink(disk.path, join(inputDir, 'archive'));
    const file = await claimOne(inputDir, NIGHT, 'rows');
    disk.fill();
    const full = /input folder \S+\/archive \(LOTE_INPUT_DIR\).*its disk is full \(ENOSPC\)/u;

    for (const _ of ['once', 'twice']) {
      // oxlint-disable-next-line no-await-in-loop -- the activity is repeated
      await expect(archive(inputDir, NIGHT, file)).rejects.toMatchObject({
        ...{ code: 'input-unusable', message: expect.stringMatching(full) as string },
      });
    }
    disk.empty();

    expect(await archive(inputDir, NIGHT, file)).toBe('archive/2026-11-21/x.csv');
    expect(await treeOf(join(disk.path, '2026-11-21'))).toEqual(['x.csv', 'x.csv.note.txt']);
  });

  it('leaves no second note when it stood still and a later try has put the file there', async () => {
    const { inputDir, file } = await oneClaimed();
    onTestFinished(
      atFirst('writeFile', /\/archive\//u, async (write) => {
        await archive(inputDir, NIGHT, file);
        await write();
      }),
    );

    const path = await archive(inputDir, NIGHT, file);

    expect(path).toBe('archive/2026-11-21/x.csv');
    expect(await treeOf(join(inputDir, 'archive'))).toEqual(['2026-11-21/x.csv', '2026-11-21/x.csv.note.txt']);
  });

  it('does the same again when it is repeated', async () => {
    const { inputDir, file } = await oneClaimed();

    const paths = [await archive(inputDir, NIGHT, file), await archive(inputDir, NIGHT, file)];

    expect(paths).toEqual(['archive/2026-11-21/x.csv', 'archive/2026-11-21/x.csv']);
    expect(await treeOf(join(inputDir, 'archive'))).toHaveLength(2);
  });

  it('says null of a file that somebody took out of the night’s folder', async () => {
    const { inputDir, file } = await oneClaimed();
    await rm(join(inputDir, 'in-progress', NIGHT.nightId, file.slot, file.name));

    expect(await archive(inputDir, NIGHT, file)).toBeNull();
    expect(await treeOf(join(inputDir, 'archive'))).toEqual([]);
  });

  it('keeps two files apart that are shelved at once under one name', async () => {
    const inputDir = await temporaryDirectory();
    const files = [await claimOne(inputDir, NIGHT, 'first'), await claimOne(inputDir, NIGHT, 'second')];

    const paths = await Promise.all(files.map((file) => archive(inputDir, NIGHT, file)));

    expect(new Set(paths)).toEqual(new Set(['archive/2026-11-21/x-2.csv', 'archive/2026-11-21/x.csv']));
    const texts = await Promise.all(paths.map((path) => readFile(join(inputDir, path ?? ''), 'utf8')));
    expect(texts).toEqual(['first', 'second']);
  });
});

describe('closing a night', () => {
  it('removes its folder when every file is on a shelf', async () => {
    const inputDir = await temporaryDirectory();
    await archive(inputDir, NIGHT, await claimOne(inputDir, NIGHT, 'rows'));

    await dropFolderAt(inputDir).close(NIGHT);
    await dropFolderAt(inputDir).close(NIGHT);

    expect((await treeOf(inputDir)).filter((path) => path.startsWith('in-progress/'))).toEqual([]);
  });

  it('leaves a file that is still in progress to the next night', async () => {
    const inputDir = await temporaryDirectory();
    await claimOne(inputDir, NIGHT, 'rows');

    await dropFolderAt(inputDir).close(NIGHT);

    const { claimed } = await dropFolderAt(inputDir).claim(nightNamed('b'), nobodyIsOpen);
    expect(claimed).toMatchObject([{ name: 'x.csv', resumed: true }]);
  });
});
