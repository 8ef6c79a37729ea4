import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConsoleToken, writeConsoleToken } from '../../../../src/app/config/console-token.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

describe('the console token of a data directory', () => {
  it('is made by each owner anew, long enough not to be guessed, and is readable by its account alone', async () => {
    const dataDir = { path: await temporaryDirectory() };

    const first = await writeConsoleToken(dataDir, null);
    const second = await writeConsoleToken(dataDir, null);

    expect(await readConsoleToken(dataDir)).toBe(second);
    expect(second).not.toBe(first);
    expect(Buffer.from(second, 'base64url')).toHaveLength(32);
    expect((await stat(join(dataDir.path, 'console-token'))).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir.path)).toEqual(['console-token']);
  });

  it('is the one that was set, and replaces a file that others could read', async () => {
    const dataDir = { path: await temporaryDirectory() };
    await writeFile(join(dataDir.path, 'console-token'), 'old', { mode: 0o644 });

    await writeConsoleToken(dataDir, 'chosen');

    expect(await readConsoleToken(dataDir)).toBe('chosen');
    expect((await stat(join(dataDir.path, 'console-token'))).mode & 0o777).toBe(0o600);
  });
});
