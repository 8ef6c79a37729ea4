import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import {
  isIgnoredName,
  listNightlyRuns,
  listClaimFolders,
  makeClaimFolder,
  nightlyOwner,
  nightlyRunPath,
  openClaimFolder,
  removeEmptyClaimFolder,
  removeClaimFolder,
} from '../../../src/nightly/claim-folder.ts';
import { isStable } from '../../../src/nightly/claim-files.ts';
import { drop, treeOf } from './drop-place.ts';
import { nightNamed } from './night-named.ts';

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

it('a file whose name another file has taken between two looks is not stable', () => {
  const seen = { size: 5, changedAt: 7, inode: 9 };

  expect(isStable(seen, { ...seen })).toBe(true);
  expect(isStable(seen, { ...seen, inode: 10 })).toBe(false);
});

describe("a night's folder", () => {
  const night = nightNamed('a');

  it('knows its owner from the moment it is there, and keeps the first one', async () => {
    const inputDir = await temporaryDirectory();
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
      const inputDir = await temporaryDirectory();
      await drop(inputDir, `in-progress/.${night.nightId}.json`, record);

      expect(await nightlyOwner(inputDir, night.nightId)).toBeNull();
    },
  );

  it('gives no slot twice to workers that ask at the same moment', async () => {
    const inputDir = await temporaryDirectory();
    await openClaimFolder(inputDir, night, 'ledger-1');

    const slots = await Promise.all(Array.from({ length: 20 }, () => makeClaimFolder(inputDir, night.nightId, false)));

    expect(new Set(slots).size).toBe(20);
  });

  it('tells which file a slot holds, and which came from an interrupted night', async () => {
    const inputDir = await temporaryDirectory();
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
    const inputDir = await temporaryDirectory();
    await openClaimFolder(inputDir, night, 'ledger-1');
    await drop(inputDir, `in-progress/${night.nightId}/0001/may.csv`);
    await drop(inputDir, `in-progress/${night.nightId}/0002/.note`);

    for (const slot of ['0001', '0002', '0009']) await removeEmptyClaimFolder(inputDir, night.nightId, slot);
    await removeClaimFolder(inputDir, night.nightId);

    expect(await treeOf(inputDir)).toEqual([
      `in-progress/.${night.nightId}.json`,
      `in-progress/${night.nightId}/0001/may.csv`,
    ]);
  });
});
