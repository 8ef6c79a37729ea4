import { appendFile, chmod, mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { smallDisk } from '../../support/crash/small-disk.ts';
import { drop, dropFolderAt, dropPlace, nobodyIsOpen, treeOf, writtenAt } from './drop-place.ts';
import { waitingCount } from '../../../src/texts/nights/waiting-files.ts';
import { nightNamed } from './night-named.ts';

const NIGHT = nightNamed('a');

describe('claiming dropped files', () => {
  it('moves each complete file into a folder of its own and names it relative to the input directory', async () => {
    const inputDir = await dropPlace();
    await drop(inputDir, 'b.csv');
    await drop(inputDir, 'a.json');

    const claims = await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen);

    expect(claims).toEqual({
      claimed: [
        { slot: '0001', name: 'a.json', resumed: false, file: `in-progress/${NIGHT.nightId}/0001/a.json` },
        { slot: '0002', name: 'b.csv', resumed: false, file: `in-progress/${NIGHT.nightId}/0002/b.csv` },
      ],
      waiting: [],
    });
    expect(await readFile(join(inputDir, claims.claimed[0]?.file ?? ''), 'utf8')).toBe('content of a.json');
  });

  it.each([
    'x.csv.part',
    'x.PART',
    'x.partial',
    'x.csv.filepart',
    'x.tmp',
    'x.temp',
    'x.csv.crdownload',
    '.hidden.csv',
    '~$x.csv',
    'x.csv~',
    'x.csv.done',
    '.x.csv.swp',
    'Thumbs.db',
    'desktop.ini',
    'sample.csv',
  ])('leaves %s where it is', async (name) => {
    const inputDir = await dropPlace();
    await drop(inputDir, name);

    const claims = await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen);

    expect(claims).toEqual({ claimed: [], waiting: [] });
    expect(await treeOf(inputDir)).toContain(name);
  });

  it('never follows a link nor descends into a folder', async () => {
    const inputDir = await dropPlace();
    const outside = await drop(inputDir, 'archive/2026-11-20/old.csv');
    await symlink(outside, join(inputDir, 'link.csv'));
    await mkdir(join(inputDir, 'folder.csv'));

    expect(await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen)).toEqual({ claimed: [], waiting: [] });
  });

  it('leaves a file that is written to between the look and its claim', async () => {
    const inputDir = await dropPlace();
    const path = await drop(inputDir, 'x.csv');
    const drops = dropFolderAt(inputDir, {
      at: async (point) => {
        if (point === 'claim-folder-made') await appendFile(path, 'more, and there is more to come');
      },
    });

    expect(await drops.claim(NIGHT, nobodyIsOpen)).toEqual({
      claimed: [],
      waiting: [{ name: 'x.csv', reason: 'growing' }],
    });
  });

  it('leaves a file that grows between the two looks, and one that appeared meanwhile', async () => {
    const inputDir = await dropPlace();
    const growing = await drop(inputDir, 'growing.csv');
    await drop(inputDir, 'still.csv');
    const pause = async (): Promise<void> => {
      await appendFile(growing, 'more');
      await drop(inputDir, 'late.csv');
    };

    const { claimed, waiting } = await dropFolderAt(inputDir, { pause }).claim(NIGHT, nobodyIsOpen);

    expect(claimed.map(({ name }) => name)).toEqual(['still.csv']);
    expect(waiting).toEqual([
      { name: 'growing.csv', reason: 'growing' },
      { name: 'late.csv', reason: 'growing' },
    ]);
  });

  it('leaves a file whose time alone changed: it was written again with the same size', async () => {
    const inputDir = await dropPlace();
    const path = await drop(inputDir, 'same-size.csv');

    const folder = dropFolderAt(inputDir, { pause: () => writtenAt(path, 1_000) });

    expect((await folder.claim(NIGHT, nobodyIsOpen)).waiting).toEqual([{ name: 'same-size.csv', reason: 'growing' }]);
  });

  it('waits for exactly the time that was configured, once per call', async () => {
    const inputDir = await dropPlace();
    await drop(inputDir, 'x.csv');
    const pauses: number[] = [];
    const pause = (ms: number): Promise<void> => Promise.resolve(void pauses.push(ms));
    const folder = dropFolderAt(inputDir, { stableMs: 10_000, pause });

    await folder.claim(NIGHT, nobodyIsOpen);
    await folder.claim(NIGHT, nobodyIsOpen);

    expect(pauses, 'nothing to look at twice the second time').toEqual([10_000]);
  });

  it('leaves an empty file: the beginning of an upload looks the same', async () => {
    const inputDir = await dropPlace();
    await drop(inputDir, 'empty.csv', '');

    expect((await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen)).waiting).toEqual([
      { name: 'empty.csv', reason: 'empty' },
    ]);
  });

  it('takes a file whose name is so long that no marker fits beside it', async () => {
    const inputDir = await dropPlace();
    const name = `${'ç'.repeat(125)}.csv`;
    await drop(inputDir, name);

    const { claimed } = await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen);

    expect(claimed.map((file) => file.name)).toEqual([name]);
  });

  it('takes a file whose name is not UTF-8, and reads that as ISO 8859-1', async ({ skip }) => {
    const inputDir = await dropPlace();
    const name = Buffer.from(join(inputDir, 'Março.csv'), 'latin1');
    const isTaken = await rename(await drop(inputDir, 'x.csv'), name).catch(() => 'refused');
    // macOS and Windows have no such names.
    if (isTaken === 'refused') skip();

    const { claimed } = await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen);

    expect(claimed.map((file) => file.name)).toEqual(['Março.csv']);
    expect(await readFile(join(inputDir, claimed[0]?.file ?? ''), 'utf8')).toBe('content of x.csv');
  });

  it('names 200 of the files that wait for one reason, and counts the others', async () => {
    const inputDir = await dropPlace();
    const names = Array.from({ length: 203 }, (_, at) => `empty-${String(at).padStart(3, '0')}.csv`);
    await Promise.all(names.map((name) => drop(inputDir, name, '')));

    const { waiting } = await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen);

    expect(waiting).toHaveLength(200);
    expect(waiting.at(-1)).toEqual({ name: 'empty-199.csv', reason: 'empty', more: 3 });
    expect(waitingCount(waiting)).toBe(203);
  });

  it('keeps two files of one name apart when the second is dropped after the first was claimed', async () => {
    const inputDir = await dropPlace();
    const folder = dropFolderAt(inputDir);
    await drop(inputDir, 'x.csv', 'first');
    await folder.claim(NIGHT, nobodyIsOpen);
    await drop(inputDir, 'x.csv', 'second');

    const { claimed } = await folder.claim(NIGHT, nobodyIsOpen);

    const texts = await Promise.all(claimed.map(({ file }) => readFile(join(inputDir, file), 'utf8')));
    expect(texts).toEqual(['first', 'second']);
  });

  it('lets two nights that run at once have each file once', async () => {
    const inputDir = await dropPlace();
    const names = Array.from({ length: 30 }, (_, at) => `file-${String(at).padStart(2, '0')}.csv`);
    for (const name of names) await drop(inputDir, name);
    const isOpen = (): Promise<boolean> => Promise.resolve(true);

    const both = await Promise.all(
      ['a', 'b'].map((letter) => dropFolderAt(inputDir).claim(nightNamed(letter), isOpen)),
    );

    const claimed = both.flatMap((claims) => claims.claimed.map(({ name }) => name));
    expect(claimed.toSorted()).toEqual(names);
    expect(both.flatMap(({ waiting }) => waiting)).toEqual([]);
  });

  it('reports a file that the system does not let it move', async ({ skip }) => {
    if (process.getuid?.() === 0) {
      console.warn(
        'Not tried as root, who may move everything: a dropped file that the system does not let Lote move.',
      );
      skip();
    }
    const inputDir = await dropPlace();
    const folder = dropFolderAt(inputDir);
    await folder.claim(NIGHT, nobodyIsOpen);
    await drop(inputDir, 'x.csv');
    await chmod(inputDir, 0o500);

    const { waiting } = await folder.claim(NIGHT, nobodyIsOpen);
    await chmod(inputDir, 0o700);

    expect(waiting).toEqual([{ name: 'x.csv', reason: 'not-movable' }]);
  });
});

describe('the marker mode', () => {
  it('takes a file only with a marker that is not older, and takes the marker along', async () => {
    const inputDir = await dropPlace();
    await writtenAt(await drop(inputDir, 'good.csv'), 2_000);
    await writtenAt(await drop(inputDir, 'good.csv.done', ''), 2_000);
    await drop(inputDir, 'without.csv');
    await writtenAt(await drop(inputDir, 'newer.csv'), 3_000);
    await writtenAt(await drop(inputDir, 'newer.csv.done', ''), 2_000);

    const { claimed, waiting } = await dropFolderAt(inputDir, { marker: true }).claim(NIGHT, nobodyIsOpen);

    expect(claimed.map(({ name }) => name)).toEqual(['good.csv']);
    expect(waiting).toEqual([
      { name: 'newer.csv', reason: 'no-marker' },
      { name: 'without.csv', reason: 'no-marker' },
    ]);
    expect(await treeOf(inputDir)).not.toContain('good.csv.done');
  });

  it('does not let a marker that was left by a crash vouch for the next file of that name', async () => {
    const inputDir = await dropPlace();
    const folder = dropFolderAt(inputDir, { marker: true });
    await writtenAt(await drop(inputDir, 'x.csv'), 2_000);
    await writtenAt(await drop(inputDir, 'x.csv.done', ''), 2_000);
    const crash = dropFolderAt(inputDir, {
      marker: true,
      at: (point) => (point === 'file-claimed' ? Promise.reject(new Error('crash')) : Promise.resolve()),
    });
    await expect(crash.claim(NIGHT, nobodyIsOpen)).rejects.toThrow('crash');

    const { claimed } = await folder.claim(NIGHT, nobodyIsOpen);

    expect(claimed.map(({ name }) => name)).toEqual(['x.csv']);
    expect(await treeOf(inputDir)).not.toContain('x.csv.done');
  });
});

describe('what an interrupted night left', () => {
  it('is taken over when the run of that night is closed, and says so', async () => {
    const inputDir = await dropPlace();
    const folder = dropFolderAt(inputDir);
    await drop(inputDir, 'x.csv');
    await folder.claim(nightNamed('a', '2026-11-20'), nobodyIsOpen);
    const asked: string[] = [];
    const isOpen = (workflowId: string, runId: string): Promise<boolean> => {
      asked.push(`${workflowId} ${runId}`);
      return Promise.resolve(false);
    };

    const { claimed } = await folder.claim(nightNamed('b'), isOpen);

    expect(asked).toEqual(['night-a aaaaaaaa']);
    expect(claimed).toEqual([
      {
        slot: '0001-resumed',
        name: 'x.csv',
        resumed: true,
        file: 'in-progress/2026-11-21-bbbbbbbb/0001-resumed/x.csv',
      },
    ]);
    expect((await treeOf(inputDir)).filter((path) => path.includes('aaaaaaaa'))).toEqual([]);
  });

  it('stays with a night whose run still lives', async () => {
    const inputDir = await dropPlace();
    const folder = dropFolderAt(inputDir);
    await drop(inputDir, 'x.csv');
    await folder.claim(nightNamed('a'), nobodyIsOpen);

    const { claimed } = await folder.claim(nightNamed('b'), () => Promise.resolve(true));

    expect(claimed).toEqual([]);
    expect(await treeOf(inputDir)).toContain('in-progress/2026-11-21-aaaaaaaa/0001/x.csv');
  });

  it('is taken over from a folder that lost its record', async () => {
    const inputDir = await dropPlace();
    await drop(inputDir, 'in-progress/2026-11-19-lost/0001/x.csv');

    const { claimed } = await dropFolderAt(inputDir).claim(NIGHT, () => Promise.resolve(true));

    expect(claimed.map(({ name }) => name)).toEqual(['x.csv']);
  });

  it('leaves what a night of another ledger has claimed, and names it', async () => {
    const inputDir = await dropPlace();
    await drop(inputDir, 'theirs.csv');
    await dropFolderAt(inputDir, { ledgerId: 'ledger-2' }).claim(nightNamed('b'), nobodyIsOpen);
    await drop(inputDir, 'ours.csv');

    const claims = await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen);

    expect(claims.claimed.map(({ name }) => name)).toEqual(['ours.csv']);
    expect(claims.waiting).toEqual([{ name: 'theirs.csv', reason: 'other-ledger' }]);
    expect(await treeOf(inputDir)).toContain(`in-progress/${nightNamed('b').nightId}/0001/theirs.csv`);
  });

  it('takes over what a night of an earlier version has claimed, which does not name its ledger', async () => {
    const inputDir = await dropPlace();
    const { nightId, workflowId, runId } = nightNamed('b');
    await drop(inputDir, `in-progress/${nightId}/.night.json`, JSON.stringify({ workflowId, runId }));
    await drop(inputDir, `in-progress/${nightId}/0001/x.csv`);

    const { claimed } = await dropFolderAt(inputDir).claim(NIGHT, nobodyIsOpen);

    expect(claimed).toMatchObject([{ name: 'x.csv', resumed: true }]);
  });

  it('names the folder that cannot be written, and goes on when it can', async () => {
    const disk = await smallDisk(1);
    if (disk === null) return;
    onTestFinished(() => disk.remove());
    await drop(disk.path, 'x.csv');
    disk.readOnly(true);
    const drops = dropFolderAt(disk.path);

    const refused = drops.claim(NIGHT, nobodyIsOpen);

    await expect(refused).rejects.toMatchObject({
      code: 'input-unusable',
      message: expect.stringContaining(`the input folder ${disk.path} (LOTE_INPUT_DIR)`) as string,
    });
    await expect(refused).rejects.toThrow('it is read-only (EROFS)');
    disk.readOnly(false);
    expect((await drops.claim(NIGHT, nobodyIsOpen)).claimed).toMatchObject([{ name: 'x.csv', resumed: false }]);
  });
});
