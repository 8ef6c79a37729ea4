import { rm, writeFile, access, rename } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack, type TestStack, readReportOf, expectAgreement } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import { join } from 'node:path';
import { smallDisk, type SmallDisk } from '../../support/crash/small-disk.ts';

/** A fault of the folder of the reports, made on a file system of its own. */
interface ReportsFault {
  readonly name: string;
  /** What the waiting batch says was found. */
  readonly found: string;
  begin(disk: SmallDisk, reportsDir: string): unknown;
  end(disk: SmallDisk, reportsDir: string): unknown;
}

const REPORTS_FAULTS: readonly ReportsFault[] = [
  {
    ...{ name: 'read-only', found: 'it is read-only (EROFS)' },
    begin: (disk) => disk.readOnly(true),
    end: (disk) => disk.readOnly(false),
  },
  {
    ...{ name: 'full', found: 'its disk is full (ENOSPC)' },
    begin: (disk) => disk.fill(),
    end: (disk) => disk.empty(),
  },
  {
    ...{ name: 'gone, its parent read-only', found: 'it is read-only (EROFS)' },
    async begin(disk, reportsDir) {
      await rename(reportsDir, `${reportsDir}-away`).catch(() => undefined);
      disk.readOnly(true);
    },
    end: (disk) => disk.readOnly(false),
  },
];

/**
 * One batch whose reports folder fails before the batch begins and is mended while it waits: every invoice is issued once, the batch names the
 * folder, and its report comes by itself. Null: this user may not mount a file system (the reason is printed).
 */
async function liveThroughReportsFault(
  fault: ReportsFault,
  { invoices }: { readonly invoices: number },
): Promise<{ readonly waitingFor: string } | null> {
  const disk = await smallDisk(2);
  if (disk === null) return null;
  const reportsDir = join(disk.path, 'reports');
  try {
    return await withStack({ env: { LOTE_REPORTS_DIR: reportsDir } }, async (stack) => {
      await stack.drop('reported.csv', testInvoices(invoices));
      await fault.begin(disk, reportsDir);
      const { handle, batchId } = await stack.start({ file: 'reported.csv' });
      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      const { waitingFor, phase } = await stack.progress(handle);
      const reconciled = await stack.reconcile();

      expect(phase).toBe('reporting');
      expect(waitingFor).toContain(`folder-unusable: Writing to the reports folder ${reportsDir} (LOTE_REPORTS_DIR)`);
      expect(waitingFor).toContain(fault.found);
      expect(reconciled.reports, 'its run lives and writes it').toEqual([]);
      expect(await stack.ledger.findBatch(batchId)).toMatchObject({ state: 'finished' });
      await fault.end(disk, reportsDir);
      const result = await handle.result();
      expect(result).toMatchObject({ state: 'finished', counts: { issued: invoices } });
      expect((await readReportOf(result)).invoices).toHaveLength(invoices);
      await access(result.reports.html);
      expect((await stack.progress(handle)).waitingFor).toBeNull();
      await expectAgreement(stack, batchId);
      return { waitingFor: waitingFor ?? '' };
    });
  } finally {
    await disk.remove();
  }
}

describe('a report that cannot be written', () => {
  it.each(REPORTS_FAULTS)(
    'keeps its batch waiting, which names the folder, and is written later: $name',
    async (fault) => {
      await liveThroughReportsFault(fault, { invoices: 2 });
    },
  );
});

/** A file where the folder should be, as a mount point that was never a folder. */
async function withoutFolder(stack: TestStack): Promise<void> {
  await rm(stack.config.reportsDir, { recursive: true, force: true });
  await writeFile(stack.config.reportsDir, '');
}

describe('a reports folder that cannot be read', { concurrent: true }, () => {
  it('keeps a batch from sending, because no POST can be noted; it names the folder, and goes on by itself', async () => {
    await withStack({ sendLog: true }, async (stack) => {
      await withoutFolder(stack);
      const { handle } = await stack.begin('read.csv', testInvoices(2));

      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      const { waitingFor, phase } = await stack.progress(handle);
      expect(stack.posts()).toEqual([]);
      await rm(stack.config.reportsDir);

      expect(phase).toBe('waiting');
      expect(waitingFor).toContain(`folder-unusable: Writing to the reports folder ${stack.config.reportsDir}`);
      expect((await handle.result()).counts).toMatchObject({ issued: 2 });
    });
  });

  it('does not keep reconciliation from closing a batch without a run, whose report is written later', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = ({ path }) => (path.startsWith('/v1/merchants') ? { status: 503 } : 'pass');
      const { batchId, handle } = await stack.begin('left.csv', testInvoices(2));
      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      await handle.terminate('by the test');
      await withoutFolder(stack);

      expect(await stack.reconcile()).toMatchObject({ orphans: [batchId], reports: [] });
      await rm(stack.config.reportsDir);
      expect(await stack.reconcile()).toMatchObject({ orphans: [], reports: [batchId] });
    });
  });
});
