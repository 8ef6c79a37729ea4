import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FileCheck } from '../../../../src/console/file-check.ts';
import { atMostAtOnce, requireCheckable } from '../../../../src/wiring/console/limited-checks.ts';

const CHECKED = { refused: false } as FileCheck;

describe('checks of the console', () => {
  it('are of a few files at once, and whoever comes then is told to come again', async () => {
    const ends: (() => void)[] = [];
    const check = atMostAtOnce(
      (_file: string) => new Promise<FileCheck>((resolve) => ends.push(() => resolve(CHECKED))),
      2,
    );
    const running = [check('a'), check('b')];

    await expect(check('c')).rejects.toMatchObject({ code: 'checks-busy' });

    for (const end of ends) end();
    await Promise.all(running);
    const next = check('c');
    ends.at(-1)?.();
    expect(await next).toBe(CHECKED);
  });

  it('that fail make room, too', async () => {
    const check = atMostAtOnce((_file: string) => Promise.reject(new Error('unreadable')), 1);

    await expect(check('a')).rejects.toThrow('unreadable');
    await expect(check('a')).rejects.toThrow('unreadable');
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
