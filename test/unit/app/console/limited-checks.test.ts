import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inTurn, requireCheckable } from '../../../../src/app/console/keep-upload.ts';

describe('checks of the console', () => {
  it('take turns, also after one that failed', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const check = inTurn(async (file: string) => {
      begun.push(file);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (file === 'a') throw new Error('unreadable');
      return file;
    });
    const [first, second] = [check('a'), check('b')];
    await expect.poll(() => begun).toEqual(['a']);
    ends[0]?.();
    await expect(first).rejects.toThrow('unreadable');
    await expect.poll(() => begun).toEqual(['a', 'b']);
    ends[1]?.();
    expect(await second).toBe('b');
  });

  it('are of no file that is larger than an upload may be', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'lote-check-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const path = join(directory, 'large.csv');
    const file = await open(path, 'w');
    await file.truncate(100 * 1024 * 1024);
    await expect(requireCheckable(path)).resolves.toBeUndefined();

    await file.truncate(100 * 1024 * 1024 + 1);

    await expect(requireCheckable(path)).rejects.toMatchObject({ code: 'usage' });
    await file.close();
  });
});
