import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { smallDisk } from '../../../support/crash/small-disk.ts';
import { keepUpload } from '../../../../src/app/console/file-actions.ts';

let inputDir: string;

beforeEach(async () => {
  inputDir = await mkdtemp(join(tmpdir(), 'lote-upload-'));
});

afterEach(async () => {
  await rm(inputDir, { recursive: true, force: true });
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('the browser left');
}

describe('keepUpload', () => {
  it('keeps the bytes under a folder that their hash names', async () => {
    const file = await keepUpload({ inputDir, name: 'may.csv', content: pieces('a,', 'b') });

    expect(file).toBe('incoming/1eb7c54d/may.csv');
    expect(await readFile(join(inputDir, file), 'utf8')).toBe('a,b');
  });

  it('names the input folder when it is full', async () => {
    const disk = await smallDisk(1);
    if (disk === null) return;
    onTestFinished(() => disk.remove());
    const content = pieces('a,', 'b'.repeat(100_000));
    disk.fill();

    await expect(keepUpload({ inputDir: disk.path, name: 'may.csv', content })).rejects.toMatchObject({
      code: 'input-unusable',
      message: expect.stringMatching(/input folder \S+ \(LOTE_INPUT_DIR\).*its disk is full \(ENOSPC\)/u) as string,
    });
  });

  it('keeps two files of one name apart, and the same file once', async () => {
    const one = await keepUpload({ inputDir, name: 'may.csv', content: pieces('1') });
    const other = await keepUpload({ inputDir, name: 'may.csv', content: pieces('2') });
    const again = await keepUpload({ inputDir, name: 'may.csv', content: pieces('1') });

    expect(new Set([one, other, again]).size).toBe(2);
    expect(again).toBe(one);
  });

  it.each([
    [
      'is too large',
      () => keepUpload({ inputDir, name: 'may.csv', content: pieces('12', '34'), limit: 3 }),
      'at most 0 MB',
    ],
    ['breaks off', () => keepUpload({ inputDir, name: 'may.csv', content: broken() }), 'the browser left'],
  ])('leaves nothing of a file that %s', async (_, keep, message) => {
    await expect(keep()).rejects.toThrow(message);

    expect(await readdir(join(inputDir, 'incoming'))).toEqual([]);
  });
});

describe('what an upload leaves', () => {
  it('is for the account and its group', async () => {
    const file = await keepUpload({ inputDir, name: 'may.csv', content: pieces('a,b') });

    expect((await stat(join(inputDir, file))).mode & 0o777).toBe(0o640);
    expect((await stat(join(inputDir, 'incoming'))).mode & 0o007).toBe(0);
  });

  it('goes with a later one when its process ended in the middle', async () => {
    await mkdir(join(inputDir, 'incoming'));
    const [old, young] = ['.upload-old.part', '.upload-young.part'].map((name) => join(inputDir, 'incoming', name));
    await writeFile(old ?? '', 'half');
    await writeFile(young ?? '', 'half');
    const twoHoursAgo = Date.now() / 1_000 - 7_200;
    await utimes(old ?? '', twoHoursAgo, twoHoursAgo);

    await keepUpload({ inputDir, name: 'may.csv', content: pieces('a,b') });

    expect(await readdir(join(inputDir, 'incoming'))).toEqual(expect.arrayContaining(['.upload-young.part']));
    expect(await readdir(join(inputDir, 'incoming'))).not.toContain('.upload-old.part');
  });
});
