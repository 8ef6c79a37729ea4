import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { smallDisk } from '../../../support/crash/small-disk.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { limited } from '../../../../src/app/console/file-actions.ts';
import { placeInput } from '../../../../src/app/files/input-files.ts';

let inputDir: string;

beforeEach(async () => {
  inputDir = await temporaryDirectory();
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('the browser left');
}

const place = (content: AsyncIterable<Uint8Array>): Promise<string> => placeInput(inputDir, 'may.csv', content);

describe('a file that is streamed into the input folder', () => {
  it('is under a folder that its hash names, for the account and its group', async () => {
    const file = await place(pieces('a,', 'b'));

    expect(file).toBe('incoming/1eb7c54d/may.csv');
    expect(await readFile(join(inputDir, file), 'utf8')).toBe('a,b');
    expect((await stat(join(inputDir, file))).mode & 0o777).toBe(0o640);
    expect((await stat(join(inputDir, 'incoming'))).mode & 0o007).toBe(0);
  });

  it('names the input folder when it is full', async () => {
    const disk = await smallDisk(1);
    if (disk === null) return;
    onTestFinished(() => disk.remove());
    const content = pieces('a,', 'b'.repeat(100_000));
    disk.fill();

    await expect(placeInput(disk.path, 'may.csv', content)).rejects.toMatchObject({
      code: 'input-unusable',
      message: expect.stringMatching(/input folder \S+ \(LOTE_INPUT_DIR\).*its disk is full \(ENOSPC\)/u) as string,
    });
  });

  it('stays apart from another of its name, and is there once', async () => {
    const one = await place(pieces('1'));
    const other = await place(pieces('2'));
    const again = await place(pieces('1'));

    expect(new Set([one, other, again]).size).toBe(2);
    expect(again).toBe(one);
  });

  it.each([
    ['is too large', limited(pieces('12', '34'), 3), 'at most 0 MB'],
    ['breaks off', broken(), 'the browser left'],
  ])('leaves nothing if it %s', async (_, content, message) => {
    await expect(place(content)).rejects.toThrow(message);

    expect(await readdir(join(inputDir, 'incoming'))).toEqual([]);
  });

  it('removes what a process left that ended in the middle', async () => {
    await mkdir(join(inputDir, 'incoming'));
    for (const name of ['.part-old', '.part-young']) await writeFile(join(inputDir, 'incoming', name), 'half');
    const twoHoursAgo = Date.now() / 1_000 - 7_200;
    await utimes(join(inputDir, 'incoming', '.part-old'), twoHoursAgo, twoHoursAgo);

    await place(pieces('a,b'));

    expect((await readdir(join(inputDir, 'incoming'))).toSorted()).toEqual(['.part-young', '1eb7c54d']);
  });
});
