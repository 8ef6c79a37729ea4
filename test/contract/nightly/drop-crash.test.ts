import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compiledProcess } from '../../support/compiled-process.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { drop, treeOf, writtenAt } from '../../unit/nightly/drop-place.ts';

const PROCESS = await compiledProcess(new URL('./drop-night-process.ts', import.meta.url));
const FILES = ['bad.csv', 'good.csv'];

function night(inputDir: string, letter: string, killAt = 0) {
  const { status, signal, stdout } = spawnSync(process.execPath, [PROCESS, inputDir, letter, String(killAt)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { end: signal ?? String(status), steps: Number(stdout) };
}

async function droppedFiles(): Promise<string> {
  const inputDir = await temporaryDirectory();
  for (const name of FILES) await writtenAt(await drop(inputDir, name), 2_000);
  return inputDir;
}

/** Data files, wherever they are: no notes, no records. */
async function dataFiles(inputDir: string): Promise<readonly string[]> {
  const tree = await treeOf(inputDir);
  return tree.filter((path) => !/\.note\.txt$|\/\.[^/]+$/u.test(path));
}

it('a night that is killed before any step on the disk loses no file: the same night, or the next one, shelves each once', async () => {
  const { steps } = night(await droppedFiles(), 'a');
  expect(steps).toBeGreaterThan(15);

  for (let step = 1; step <= steps; step += 1) {
    for (const next of ['a', 'b']) await expectEachShelvedOnce(step, next);
  }
}, 300_000);

/** `next`: the night that goes on after the night `a` was killed before this step. */
async function expectEachShelvedOnce(step: number, next: string): Promise<void> {
  const inputDir = await droppedFiles();
  expect(night(inputDir, 'a', step).end, `killed before step ${step}`).toBe('SIGKILL');
  const left = await dataFiles(inputDir);
  expect(left.map((path) => path.split('/').at(-1) ?? '').toSorted(), left.join(' ')).toEqual(FILES);

  expect(night(inputDir, next).end).toBe('0');
  // Drafts and the record of a night that has no folder yet may stay.
  const tree = (await treeOf(inputDir)).filter((path) => !/\/\.[^/]+$/u.test(path));
  expect(tree, `killed before step ${step}`).toEqual([
    'archive/2026-11-21/good.csv',
    'archive/2026-11-21/good.csv.note.txt',
    'refused/2026-11-21/bad.csv',
    'refused/2026-11-21/bad.csv.note.txt',
  ]);
  for (const path of tree.filter((one) => !one.endsWith('.note.txt'))) {
    const name = path.split('/').at(-1);
    expect(await readFile(join(inputDir, path), 'utf8')).toBe(`content of ${name}`);
    expect(await readFile(join(inputDir, `${path}.note.txt`), 'utf8')).toContain(`note of ${name}`);
  }
}
