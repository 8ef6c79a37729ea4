import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../../src/report/write-report.ts';
import { requireWritable } from '../../../src/platform/folders.ts';
import { smallDisk, type SmallDisk } from '../../support/crash/small-disk.ts';
import { ledgerOf, NOON } from './batch-invoices.ts';
import { SAMPLE_BATCH, SAMPLE_FINDINGS, SAMPLE_INVOICES, sampleOriginal } from './sample-batch.ts';

const disk = await smallDisk(2);

/** Real file systems: root may write where nobody may, but not on a disk that is read-only or full. */
describe.skipIf(disk === null)('a reports folder that cannot be written', () => {
  const { path, fill, empty, readOnly, remove } = disk as SmallDisk;
  const reportsDir = join(path, 'reports');
  const folder = { title: 'reports folder', path: reportsDir, variable: 'LOTE_REPORTS_DIR' };
  beforeAll(() => mkdir(reportsDir, { recursive: true }));
  afterAll(() => remove());

  const FAULTS: readonly (readonly [found: string, begin: () => unknown, end: () => unknown])[] = [
    ['it is read-only (EROFS)', () => readOnly(true), () => readOnly(false)],
    ['its disk is full (ENOSPC)', fill, empty],
    [
      'something else has its name (EEXIST)',
      async () => {
        await rm(reportsDir, { recursive: true });
        await writeFile(reportsDir, 'a file');
      },
      () => rm(reportsDir),
    ],
  ];

  it.each(FAULTS)(
    'says what is wrong with it: %s; and takes the report when that is over',
    async (found, begin, end) => {
      await begin();
      const writing: unknown = await write().catch((error: unknown) => error);
      const starting: unknown = await requireWritable(folder).catch((error: unknown) => error);
      await end();

      for (const failure of [writing, starting]) {
        expect(failure).toMatchObject({ code: 'folder-unusable' });
        expect((failure as Error).message).toContain(`reports folder ${reportsDir} (LOTE_REPORTS_DIR)`);
        expect((failure as Error).message).toContain(found);
      }
      await requireWritable(folder);
      expect(JSON.parse(await readFile((await write()).json, 'utf8'))).toMatchObject({ schema: 'lote.report/1' });
    },
  );

  it('is made when it is missing, also with the folder above it', async () => {
    await rm(reportsDir, { recursive: true, force: true });
    const below = { ...folder, path: join(reportsDir, 'below') };

    await requireWritable(below);

    expect(dirname((await write(below.path)).json)).toBe(join(below.path, SAMPLE_BATCH.batchId));
  });

  it('is not blamed for an error that has nothing to do with it', async () => {
    const elsewhere = Object.assign(new Error('x'), { syscall: 'open', code: 'ENOENT', path: '/nowhere/original.csv' });
    const original = sampleOriginal();
    const broken = { ...original, records: failing(elsewhere) } as typeof original;

    await expect(write(reportsDir, broken)).rejects.toBe(elsewhere);
  });

  function write(into = reportsDir, original = sampleOriginal()) {
    const ledger = ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES, { fileFindings: async () => SAMPLE_FINDINGS });
    return writeReport({ ledger, batchId: SAMPLE_BATCH.batchId, reportsDir: into, original, now: NOON });
  }
});

// oxlint-disable-next-line require-yield
async function* failing(error: Error): AsyncGenerator<never> {
  throw error;
}
