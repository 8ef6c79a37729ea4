import { appendFile, chmod, mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { smallDisk } from '../../support/crash/small-disk.ts';
import { atFirst, drop, dropFolderAt, nobodyIsOpen, treeOf, writtenAt, nightNamed } from './drop-place.ts';
import {
  closeClaimFolders,
  isIgnoredName,
  makeClaimFolder,
  nightlyOwner,
  openClaimFolder,
} from '../../../src/nightly/claim-folder.ts';

const NIGHT = nightNamed('a');
const SEEN = { resumed: false, changedAt: expect.any(Number) as number };
const runs = (): Promise<boolean> => Promise.resolve(true);

/** A drop folder with these files, in which nights claim. */
async function placeWith(...names: readonly string[]) {
  const inputDir = await temporaryDirectory();
  for (const name of names) await drop(inputDir, name);
  return {
    inputDir,
    text: (file = '') => readFile(join(inputDir, file), 'utf8'),
    claim: (night = NIGHT, isOpen = nobodyIsOpen) => dropFolderAt(inputDir).claim(night, isOpen),
  };
}

describe('claiming dropped files', () => {
  it('moves each complete file into a folder of its own and names it relative to the input directory', async () => {
    const { claim, text } = await placeWith('b.csv', 'a.json');

    const claims = await claim();

    expect(claims).toEqual({
      claimed: [
        { slot: '0001', name: 'a.json', ...SEEN, file: `in-progress/${NIGHT.nightId}/0001/a.json`, size: 17 },
        { slot: '0002', name: 'b.csv', ...SEEN, file: `in-progress/${NIGHT.nightId}/0002/b.csv`, size: 16 },
      ],
      waiting: [],
    });
    expect(await text(claims.claimed[0]?.file)).toBe('content of a.json');
  });

  it('leaves what is not meant for it, follows no link and descends into no folder', async () => {
    const ignored = ['x.csv.part', '~$x.csv', 'sample.csv', 'archive/2026-11-20/old.csv'];
    const { inputDir, claim } = await placeWith(...ignored);
    await symlink(join(inputDir, 'archive/2026-11-20/old.csv'), join(inputDir, 'link.csv'));
    await mkdir(join(inputDir, 'folder.csv'));

    expect(await claim()).toEqual({ claimed: [], waiting: [] });
    expect(await treeOf(inputDir)).toEqual(expect.arrayContaining(ignored));
  });

  it.each([
    ['grows between the two looks', 'rows', 'pause', (path: string) => appendFile(path, 'more')],
    ['is written again with the same size', 'rows', 'pause', (path: string) => writtenAt(path, 1_000)],
    ['is written to before its claim', 'rows', 'claim', (path: string) => appendFile(path, 'more')],
    ['is empty, as at the beginning of an upload', '', 'claim', () => Promise.resolve()],
  ] as const)('leaves a file that %s', async (_, text, when, change) => {
    const { inputDir } = await placeWith('still.csv');
    const path = await drop(inputDir, 'x.csv', text);
    const pause = async (): Promise<void> => {
      if (when !== 'pause') return;
      await change(path);
      await drop(inputDir, 'y.csv');
    };
    onTestFinished(
      atFirst('mkdir', /\/0002$/u, async (make) => {
        await make();
        if (when === 'claim') await change(path);
      }),
    );

    const { claimed, waiting } = await dropFolderAt(inputDir, { pause }).claim(NIGHT, nobodyIsOpen);

    expect(claimed.map(({ name }) => name)).toEqual(['still.csv']);
    const late = when === 'pause' ? [{ name: 'y.csv', reason: 'growing' }] : [];
    expect(waiting).toEqual([{ name: 'x.csv', reason: text === '' ? 'empty' : 'growing' }, ...late]);
  });

  it('waits for exactly the time that was configured, once per call', async () => {
    const { inputDir } = await placeWith('x.csv');
    const pauses: number[] = [];
    const pause = (ms: number): Promise<void> => Promise.resolve(void pauses.push(ms));
    const folder = dropFolderAt(inputDir, { stableMs: 10_000, pause });

    await folder.claim(NIGHT, nobodyIsOpen);
    await folder.claim(NIGHT, nobodyIsOpen);

    expect(pauses, 'nothing to look at twice the second time').toEqual([10_000]);
  });

  it('takes a file whose name is as long as the file system allows', async () => {
    const name = `${'ç'.repeat(125)}.csv`;
    const { claim } = await placeWith(name);

    expect((await claim()).claimed).toMatchObject([{ name }]);
  });

  it('takes a file whose name is not UTF-8, and reads that as ISO 8859-1', async ({ skip }) => {
    const { inputDir, claim, text } = await placeWith('x.csv');
    const name = Buffer.from(join(inputDir, 'Março.csv'), 'latin1');
    // macOS and Windows have no such names.
    if ((await rename(join(inputDir, 'x.csv'), name).catch(() => 'refused')) === 'refused') skip();

    const { claimed } = await claim();

    expect(claimed.map((file) => file.name)).toEqual(['Março.csv']);
    expect(await text(claimed[0]?.file)).toBe('content of x.csv');
  });

  it('keeps two files of one name apart when the second is dropped after the first was claimed', async () => {
    const { inputDir, claim, text } = await placeWith('x.csv');
    await claim();
    await drop(inputDir, 'x.csv', 'second');

    const { claimed } = await claim();

    expect(await Promise.all(claimed.map(({ file }) => text(file)))).toEqual(['content of x.csv', 'second']);
  });

  it('lets two nights that run at once have each file once', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `file-${String(at).padStart(2, '0')}.csv`);
    const { claim } = await placeWith(...names);

    const both = await Promise.all(['a', 'b'].map((letter) => claim(nightNamed(letter), runs)));

    expect(both.flatMap(({ claimed }) => claimed.map(({ name }) => name)).toSorted()).toEqual(names);
    expect(both.flatMap(({ waiting }) => waiting)).toEqual([]);
  });

  it('reports a file that the system does not let it move', async ({ skip }) => {
    // Root may move everything.
    if (process.getuid?.() === 0) skip();
    const { inputDir, claim } = await placeWith();
    await claim();
    await drop(inputDir, 'x.csv');
    await chmod(inputDir, 0o500);

    const { waiting } = await claim();
    await chmod(inputDir, 0o700);

    expect(waiting).toEqual([{ name: 'x.csv', reason: 'not-movable' }]);
  });
});

describe('what an interrupted night left', () => {
  it('is taken over when the run of that night is closed, and says so', async () => {
    const { inputDir, claim } = await placeWith('x.csv');
    await claim(nightNamed('a', '2026-11-20'));
    const asked: string[] = [];

    const { claimed } = await claim(nightNamed('b'), (...run: readonly string[]) => {
      asked.push(run.join(' '));
      return Promise.resolve(false);
    });

    expect(asked).toEqual(['night-a aaaaaaaa']);
    expect(claimed).toEqual([
      {
        ...{ ...SEEN, slot: '0001-resumed', name: 'x.csv', resumed: true, size: 16 },
        file: 'in-progress/2026-11-21-bbbbbbbb/0001-resumed/x.csv',
      },
    ]);
    expect((await treeOf(inputDir)).filter((path) => path.includes('aaaaaaaa'))).toEqual([]);
  });

  it('stays with a night whose run still lives', async () => {
    const { inputDir, claim } = await placeWith('x.csv');
    await claim(nightNamed('a'));

    expect((await claim(nightNamed('b'), runs)).claimed).toEqual([]);
    expect(await treeOf(inputDir)).toContain('in-progress/2026-11-21-aaaaaaaa/0001/x.csv');
  });

  it('is taken over from a folder that lost its record', async () => {
    const { claim } = await placeWith('in-progress/2026-11-19-lost/0001/x.csv');

    expect((await claim(NIGHT, runs)).claimed).toMatchObject([{ name: 'x.csv' }]);
  });

  it('leaves what a night of another ledger has claimed, and names it', async () => {
    const { inputDir, claim } = await placeWith('theirs.csv');
    await dropFolderAt(inputDir, { ledgerId: 'ledger-2' }).claim(nightNamed('b'), nobodyIsOpen);
    await drop(inputDir, 'ours.csv');

    const { claimed, waiting } = await claim();

    expect(claimed.map(({ name }) => name)).toEqual(['ours.csv']);
    expect(waiting).toEqual([{ name: 'theirs.csv', reason: 'other-ledger' }]);
    expect(await treeOf(inputDir)).toContain(`in-progress/${nightNamed('b').nightId}/0001/theirs.csv`);
  });

  it('names the folder that cannot be written, and goes on when it can', async () => {
    const disk = await smallDisk(1);
    if (disk === null) return;
    onTestFinished(() => disk.remove());
    await drop(disk.path, 'x.csv');
    disk.readOnly(true);
    const drops = dropFolderAt(disk.path);

    const refused = drops.claim(NIGHT, nobodyIsOpen);

    await expect(refused).rejects.toMatchObject({ code: 'input-unusable' });
    await expect(refused).rejects.toThrow(`the input folder ${disk.path} (LOTE_INPUT_DIR)`);
    await expect(refused).rejects.toThrow('it is read-only (EROFS)');
    disk.readOnly(false);
    expect((await drops.claim(NIGHT, nobodyIsOpen)).claimed).toMatchObject([{ name: 'x.csv', resumed: false }]);
  });
});

const IGNORED =
  '.hidden.csv ~lock.csv may.csv~ x.csv.part x.csv.PARTIAL x.csv.filepart may.tmp may.temp x.csv.crdownload .may.csv.swp ' +
  'may.csv.lock desktop.ini Thumbs.db may.pdf may.xls may.csv.bak README csv may.csv.DONE sample.csv';
const TAKEN =
  'may.csv part.csv may.csv.txt sample-2.csv Sample.csv temp.json a.part.csv ação.csv may.CSV may.Xlsx may.xlsm may.ods ' +
  'may.tsv may.ndjson may.jsonl';

it('a dropped file is known by its name: that of one that is not, or not yet, complete is ignored', () => {
  expect(IGNORED.split(' ').filter((name) => !isIgnoredName(name))).toEqual([]);
  expect(TAKEN.split(' ').filter(isIgnoredName)).toEqual([]);
});

describe("a night's folder", () => {
  it('has no owner when its record cannot be read', async () => {
    const inputDir = await temporaryDirectory();
    for (const record of ['', '{', '[]', '{"workflowId":"w"}', '{"workflowId":1,"runId":2}', 'null']) {
      await drop(inputDir, `in-progress/.${NIGHT.nightId}.json`, record);
      expect(await nightlyOwner(inputDir, NIGHT.nightId), record).toBeNull();
    }
  });

  it('gives no slot twice to workers that ask at the same moment', async () => {
    const inputDir = await temporaryDirectory();
    await openClaimFolder(inputDir, NIGHT, 'ledger-1');

    const slots = await Promise.all(Array.from({ length: 20 }, () => makeClaimFolder(inputDir, NIGHT.nightId, false)));

    expect(new Set(slots).size).toBe(20);
  });

  it("is never removed with a person's file in it", async () => {
    const inputDir = await temporaryDirectory();
    await openClaimFolder(inputDir, NIGHT, 'ledger-1');
    await drop(inputDir, `in-progress/${NIGHT.nightId}/0001/may.csv`);
    await drop(inputDir, `in-progress/${NIGHT.nightId}/0002/.note`);

    await closeClaimFolders(inputDir, NIGHT.nightId);

    expect(await treeOf(inputDir)).toEqual([
      `in-progress/.${NIGHT.nightId}.json`,
      `in-progress/${NIGHT.nightId}/0001/may.csv`,
    ]);
  });
});
