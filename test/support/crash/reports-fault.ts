import { access, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { expectAgreement } from './agreement.ts';
import { testInvoices } from '../files/batch-file.ts';
import { smallDisk, type SmallDisk } from './small-disk.ts';
import { readReportOf, withStack } from '../lote/stack.ts';
import { until } from '../until.ts';

/** A fault of the folder of the reports, made on a file system of its own. */
export interface ReportsFault {
  readonly name: string;
  /** What the waiting batch says was found. */
  readonly found: string;
  begin(disk: SmallDisk, reportsDir: string): unknown;
  end(disk: SmallDisk, reportsDir: string): unknown;
}

export const REPORTS_FAULTS: readonly ReportsFault[] = [
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
export async function liveThroughReportsFault(
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
