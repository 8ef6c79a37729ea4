import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isIgnoredName } from '../../../src/drop/is-ignored-name.ts';
import { isStable, listInbox } from '../../../src/drop/list-inbox.ts';
import {
  listNightlyRuns,
  listClaimFolders,
  makeClaimFolder,
  nightlyOwner,
  nightlyRunPath,
  openClaimFolder,
  removeEmptyClaimFolder,
  removeClaimFolder,
  removeDrafts,
} from '../../../src/drop/claim-folder.ts';
import { drop, dropPlace, treeOf, writtenAt } from './drop-place.ts';
import { nightNamed } from './night-named.ts';

describe('isIgnoredName', () => {
  it.each([
    '.hidden.csv',
    '~lock.csv',
    'may.csv~',
    'may.csv.part',
    'may.csv.PARTIAL',
    'may.csv.filepart',
    'may.tmp',
    'may.temp',
    'may.csv.crdownload',
    'may.download',
    '.may.csv.swp',
    'may.csv.lock',
    'may.csv.done',
    'may.csv.DONE',
    'sample.csv',
  ])('leaves %s alone: it is not, or not yet, a dropped file', (name) => {
    expect(isIgnoredName(name)).toBe(true);
  });

  it.each([
    'may.csv',
    'part.csv',
    'done.csv',
    'may.csv.txt',
    'sample-2.csv',
    'Sample.csv',
    'temp.json',
    'a.part.csv',
    'ação.csv',
  ])('takes %s for a dropped file', (name) => {
    expect(isIgnoredName(name)).toBe(false);
  });
});

describe('a look at the folder', () => {
  it('sees size, time and marker of each file that lies directly in it, in the order of their names', async () => {
    const inputDir = await dropPlace();
    await writtenAt(await drop(inputDir, 'b.csv', 'four'), 2_000);
    await writtenAt(await drop(inputDir, 'a.csv', ''), 1_000);
    await writtenAt(await drop(inputDir, 'a.csv.done', ''), 3_000);
    await drop(inputDir, 'folder/c.csv');
    await symlink(join(inputDir, 'b.csv'), join(inputDir, 'link.csv'));

    const seen = [...(await listInbox(inputDir))];

    expect(seen.map(([name, { size, changedAt, markedAt }]) => [name, size, changedAt, markedAt])).toEqual([
      ['a.csv', 0, 1_000_000, 3_000_000],
      ['b.csv', 4, 2_000_000, null],
    ]);
  });

  it('takes no folder and no link for a marker', async () => {
    const inputDir = await dropPlace();
    await drop(inputDir, 'a.csv');
    await mkdir(join(inputDir, 'a.csv.done'));
    await drop(inputDir, 'b.csv');
    await symlink(join(inputDir, 'a.csv'), join(inputDir, 'b.csv.done'));

    const seen = await listInbox(inputDir);

    expect([...seen.values()].map(({ markedAt }) => markedAt)).toEqual([null, null]);
  });
});

describe('isStable', () => {
  const seen = { size: 5, changedAt: 7, inode: 9, markedAt: null };

  it('is true of a file of which nothing moved, whatever its marker did', () => {
    expect(isStable(seen, { ...seen, markedAt: 8 })).toBe(true);
  });

  it.each([
    ['it grew', { ...seen, size: 6 }],
    ['it was written again', { ...seen, changedAt: 8 }],
    ['another file took its name', { ...seen, inode: 10 }],
  ])('is false when %s', (_, after) => {
    expect(isStable(seen, after)).toBe(false);
  });

  it('is false of a file that was not there before', () => {
    expect(isStable(undefined, seen)).toBe(false);
  });
});

describe("a night's folder", () => {
  const night = nightNamed('a');

  it('knows its owner from the moment it is there, and keeps the first one', async () => {
    const inputDir = await dropPlace();
    await mkdir(join(inputDir, 'in-progress'), { recursive: true });

    await openClaimFolder(inputDir, night, 'ledger-1');
    await openClaimFolder(inputDir, { ...night, workflowId: 'other' }, 'ledger-1');

    expect(await nightlyOwner(inputDir, night.nightId)).toEqual({
      workflowId: 'night-a',
      runId: 'aaaaaaaa',
      ledgerId: 'ledger-1',
    });
    expect(await listNightlyRuns(inputDir)).toEqual([night.nightId]);
  });

  it.each(['', '{', '[]', '{"workflowId":"w"}', '{"workflowId":1,"runId":2}', 'null'])(
    'has no owner when its record says %j',
    async (record) => {
      const inputDir = await dropPlace();
      await drop(inputDir, `in-progress/${night.nightId}/.night.json`, record);

      expect(await nightlyOwner(inputDir, night.nightId)).toBeNull();
    },
  );

  it('gives each file a slot of its own, with a higher number than all before', async () => {
    const inputDir = await dropPlace();
    await openClaimFolder(inputDir, night, 'ledger-1');

    const slots = [
      await makeClaimFolder(inputDir, night.nightId, false),
      await makeClaimFolder(inputDir, night.nightId, true),
    ];
    await removeEmptyClaimFolder(inputDir, night.nightId, slots[0] ?? '');
    slots.push(await makeClaimFolder(inputDir, night.nightId, false));

    expect(slots).toEqual(['0001', '0002-resumed', '0003']);
  });

  it('gives no slot twice to workers that ask at the same moment', async () => {
    const inputDir = await dropPlace();
    await openClaimFolder(inputDir, night, 'ledger-1');

    const slots = await Promise.all(Array.from({ length: 20 }, () => makeClaimFolder(inputDir, night.nightId, false)));

    expect(new Set(slots).size).toBe(20);
  });

  it('tells which file a slot holds, and which came from an interrupted night', async () => {
    const inputDir = await dropPlace();
    await drop(inputDir, `in-progress/${night.nightId}/0001/may.csv`);
    await drop(inputDir, `in-progress/${night.nightId}/0001/may.csv.done`);
    await drop(inputDir, `in-progress/${night.nightId}/0002-resumed/june.csv`);
    await mkdir(join(nightlyRunPath(inputDir, night.nightId), '0003'));

    expect(await listClaimFolders(inputDir, night.nightId)).toEqual([
      { claimFolder: '0001', name: 'may.csv', resumed: false },
      { claimFolder: '0002-resumed', name: 'june.csv', resumed: true },
      { claimFolder: '0003', name: null, resumed: false },
    ]);
  });

  it("is never removed with a person's file in it", async () => {
    const inputDir = await dropPlace();
    await openClaimFolder(inputDir, night, 'ledger-1');
    await drop(inputDir, `in-progress/${night.nightId}/0001/may.csv`);
    await drop(inputDir, `in-progress/${night.nightId}/0002/.note`);

    for (const slot of ['0001', '0002', '0009']) await removeEmptyClaimFolder(inputDir, night.nightId, slot);
    await removeClaimFolder(inputDir, night.nightId);

    expect(await treeOf(inputDir)).toEqual([
      `in-progress/${night.nightId}/.night.json`,
      `in-progress/${night.nightId}/0001/may.csv`,
    ]);
  });

  it('goes when it is empty, and can be gone already', async () => {
    const inputDir = await dropPlace();
    await openClaimFolder(inputDir, night, 'ledger-1');

    await removeClaimFolder(inputDir, night.nightId);
    await removeClaimFolder(inputDir, night.nightId);

    expect(await listNightlyRuns(inputDir)).toEqual([]);
    expect(await treeOf(inputDir)).toEqual([]);
  });

  it('that was killed before it began is cleared away after an hour, and no other', async () => {
    const inputDir = await dropPlace();
    await openClaimFolder(inputDir, night, 'ledger-1');
    await drop(inputDir, 'in-progress/.new-1234/.night.json', '{}');
    await drop(inputDir, 'in-progress/.new-5678/.night.json', '{}');
    await writeFile(join(inputDir, 'in-progress', 'somebody.txt'), 'x');
    const longAgo = new Date(Date.now() - 2 * 60 * 60_000);
    await utimes(join(inputDir, 'in-progress/.new-1234'), longAgo, longAgo);

    await removeDrafts(inputDir);

    expect(await treeOf(inputDir), 'the young one may be that of a night that begins now').toEqual([
      'in-progress/.new-5678/.night.json',
      `in-progress/${night.nightId}/.night.json`,
      'in-progress/somebody.txt',
    ]);
  });
});
