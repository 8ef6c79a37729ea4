import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namedFile, namedFiles } from '../../../../src/app/files/named-file.ts';

let directory: string;
let inputDir: string;

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'lote-named-')));
  inputDir = join(directory, 'input');
  await mkdir(inputDir);
  await writeFile(join(inputDir, 'march.csv'), '');
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('a file that is named at a prompt', () => {
  it('is the one in the input directory where the shell sees none of that name', async () => {
    expect(await namedFile(inputDir, 'march.csv')).toBe(join(inputDir, 'march.csv'));
  });

  it('whose name is no UTF-8 is called that, and one that is only called so is found', async () => {
    await expect(namedFile(inputDir, join(inputDir, 'm\uFFFDrz.csv'))).rejects.toMatchObject({
      code: 'file-unreadable',
      message: expect.stringContaining('its name must be UTF-8') as string,
    });
    await writeFile(join(inputDir, '\uFFFD.csv'), '');
    expect(await namedFile(inputDir, '\uFFFD.csv')).toBe(join(inputDir, '\uFFFD.csv'));
  });

  it('is what the shell sees, also where the input directory has one of that name', async () => {
    // Tests run in the folder of the project.
    await writeFile(join(inputDir, 'package.json'), '');

    expect(await namedFiles(inputDir, ['package.json', 'march.csv'])).toEqual([
      'package.json',
      join(inputDir, 'march.csv'),
    ]);
  });

  it.each(['april.csv', '../secret.csv', '/nowhere/march.csv'])(
    'stays as it was named where nothing in the input directory is it: %s',
    async (name) => {
      await writeFile(join(directory, 'secret.csv'), '');

      expect(await namedFile(inputDir, name)).toBe(name);
    },
  );
});
