import { chmod, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDataDir } from '../../../../src/app/data-dir/data-dir.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

describe('openDataDir', () => {
  it('makes the directory, for its owner only', async () => {
    const path = join(await temporaryDirectory(), 'deep', '.lote');

    const dataDir = await openDataDir(path);

    expect(dataDir.path).toBe(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['closed to every other account', 0o755, 0o700],
    ['left as it is where all accounts share it', 0o1777, 0o1777],
  ])('is %s when it is there', async (_, before, after) => {
    const path = await temporaryDirectory();
    await chmod(path, before);

    await openDataDir(path);

    expect((await stat(path)).mode & 0o7777).toBe(after);
  });

  it('tells the real path: two names of one directory are one directory', async () => {
    const path = await temporaryDirectory();
    const alias = join(await temporaryDirectory(), 'alias');
    await symlink(path, alias);

    expect(await openDataDir(alias)).toEqual(await openDataDir(path));
  });

  it('refuses a file in its place, naming variable and path', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');

    await expect(openDataDir(file)).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining(`found ${file} (EEXIST)`) as string,
    });
    await expect(openDataDir(join(file, 'below'))).rejects.toThrow('LOTE_DATA_DIR must be a directory');
  });
});
