import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceCorrections } from '../../../../src/report/corrections/replace-corrections.ts';

let directory: string;
let work: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-corrections-'));
  work = join(directory, '.writing-1');
  await mkdir(work);
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function replace(name: string | null, content: string): Promise<Record<string, string>> {
  if (name !== null) await writeFile(join(work, name), content);
  await replaceCorrections({ directory, work, name, revision: 3 });
  const names = (await readdir(directory)).filter((file) => !file.startsWith('.'));
  return Object.fromEntries(
    await Promise.all(names.map(async (file) => [file, await readFile(join(directory, file), 'utf8')] as const)),
  );
}

describe('replaceCorrections', () => {
  it('puts the first one in place', async () => {
    expect(await replace('corrections.csv', 'new')).toEqual({ 'corrections.csv': 'new' });
  });

  it('sets one with other content aside, under the revision that replaced it', async () => {
    await writeFile(join(directory, 'corrections.csv'), 'half corrected');

    expect(await replace('corrections.csv', 'new')).toEqual({
      'corrections.csv': 'new',
      'corrections-replaced-by-3.csv': 'half corrected',
    });
  });

  it('sets nothing aside when the content is the same', async () => {
    await writeFile(join(directory, 'corrections.csv'), 'same');

    expect(await replace('corrections.csv', 'same')).toEqual({ 'corrections.csv': 'same' });
  });

  it('leaves none under the name when nothing has to be corrected any more', async () => {
    await writeFile(join(directory, 'corrections.ndjson'), 'old');

    expect(await replace(null, '')).toEqual({ 'corrections-replaced-by-3.ndjson': 'old' });
  });

  it('touches no other file', async () => {
    await writeFile(join(directory, 'report.json'), '{}');
    await writeFile(join(directory, 'corrections-replaced-by-2.csv'), 'older');
    await writeFile(join(directory, 'corrections.csv.part'), 'mine');

    expect(await replace('corrections.csv', 'new')).toEqual({
      'report.json': '{}',
      'corrections-replaced-by-2.csv': 'older',
      'corrections.csv.part': 'mine',
      'corrections.csv': 'new',
    });
  });
});
