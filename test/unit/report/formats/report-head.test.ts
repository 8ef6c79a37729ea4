import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { reportHead } from '../../../../src/report/formats/report-head.ts';

it('is the first 16 KiB of a report, all of a shorter one, and null where there is none', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lote-report-head-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const json = join(directory, 'report.json');
  expect(await reportHead(json)).toBeNull();

  await writeFile(json, 'short');
  expect(await reportHead(json)).toBe('short');
  expect(await reportHead(join(json, 'report.json'), ['ENOENT', 'ENOTDIR']), 'a file lies there').toBeNull();
  await expect(reportHead(join(json, 'report.json'))).rejects.toMatchObject({ code: 'ENOTDIR' });

  await writeFile(json, 'x'.repeat(16 * 1024 + 1));
  expect(await reportHead(json)).toHaveLength(16 * 1024);
});
