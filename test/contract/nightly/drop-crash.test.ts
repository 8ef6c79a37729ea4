import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DROP_POINTS, type DropPoint } from '../../../src/nightly/claim-folder.ts';
import { compiledProcess } from '../../support/compiled-process.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { drop, treeOf, writtenAt } from '../../unit/nightly/drop-place.ts';

const PROCESS = await compiledProcess(new URL('./drop-night-process.ts', import.meta.url));
const FILES = ['bad.csv', 'good.csv', 'other.json'];

function night(inputDir: string, letter: string, kill?: { point: DropPoint; nth: number }): Promise<string> {
  const child = spawn(process.execPath, [PROCESS, inputDir, letter, kill?.point ?? 'never', String(kill?.nth ?? 1)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ?? String(code)));
  });
}

async function dropFiles(inputDir: string): Promise<void> {
  for (const name of FILES) await writtenAt(await drop(inputDir, name), 2_000);
}

/** Data files, wherever they are: no notes, no records. */
async function dataFiles(inputDir: string): Promise<readonly string[]> {
  const tree = await treeOf(inputDir);
  return tree.filter((path) => !/\.note\.txt$|\/\.[^/]+$/u.test(path));
}

describe('a night that is killed at any point', () => {
  const cases = DROP_POINTS.flatMap((point) => [1, 2].map((nth) => ({ point, nth })));

  it.each(cases.filter(({ point, nth }) => point !== 'night-opened' || nth === 1))(
    'loses no file at $point, time $nth: the same night, or the next one, shelves each once',
    async ({ point, nth }) => {
      for (const next of ['a', 'b']) {
        const inputDir = await temporaryDirectory();
        await dropFiles(inputDir);

        const end = await night(inputDir, 'a', { point, nth });

        expect(end, 'it was killed there').toBe('SIGKILL');
        const left = await dataFiles(inputDir);
        expect(left.map((path) => path.split('/').at(-1) ?? '').toSorted(), left.join(' ')).toEqual(FILES);

        expect(await night(inputDir, next)).toBe('0');
        const tree = await treeOf(inputDir);
        expect(tree).toEqual([
          'archive/2026-11-21/good.csv',
          'archive/2026-11-21/good.csv.note.txt',
          'archive/2026-11-21/other.json',
          'archive/2026-11-21/other.json.note.txt',
          'refused/2026-11-21/bad.csv',
          'refused/2026-11-21/bad.csv.note.txt',
        ]);
        for (const path of tree.filter((one) => !one.endsWith('.note.txt'))) {
          const name = path.split('/').at(-1);
          expect(await readFile(join(inputDir, path), 'utf8')).toBe(`content of ${name}`);
          expect(await readFile(join(inputDir, `${path}.note.txt`), 'utf8')).toContain(`note of ${name}`);
        }
      }
    },
  );
});
