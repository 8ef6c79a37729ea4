import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { smallDisk } from '../support/small-disk.ts';
import { withStack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const FAULTS = [
  ['read-only', 'it is read-only (EROFS)'],
  ['full', 'its disk is full (ENOSPC)'],
] as const;

describe('a report that cannot be written', { timeout: 180_000 }, () => {
  it.each(FAULTS)('keeps its batch waiting, which names the folder, and is written later: %s', async (kind, found) => {
    const disk = await smallDisk(2);
    // Printed already.
    if (disk === null) return;
    const reportsDir = join(disk.path, 'reports');
    const fault = {
      'read-only': (on: boolean) => disk.readOnly(on),
      full: (on: boolean) => (on ? disk.fill() : disk.empty()),
    };
    try {
      await withStack({ env: { LOTE_REPORTS_DIR: reportsDir } }, async (stack) => {
        await stack.drop('reported.csv', [{ ref: 'A' }, { ref: 'B' }]);
        fault[kind](true);
        const { handle, batchId } = await stack.start({ file: 'reported.csv' });
        await until(async () => (await stack.progress(handle)).waitingFor !== null);
        const { waitingFor, phase } = await stack.progress(handle);
        const reconciled = await stack.reconcile();

        expect(phase).toBe('reporting');
        expect(waitingFor).toContain(`folder-unusable: Writing to the reports folder ${reportsDir} (LOTE_REPORTS_DIR)`);
        expect(waitingFor).toContain(found);
        expect(reconciled.reports, 'its run lives and writes it').toEqual([]);
        expect(await stack.ledger.findBatch(batchId)).toMatchObject({ state: 'finished' });
        fault[kind](false);
        const result = await handle.result();
        expect(result).toMatchObject({ state: 'finished', counts: { issued: 2 } });
        await access(result.reports.html);
        expect((await stack.progress(handle)).waitingFor).toBeNull();
      });
    } finally {
      await disk.remove();
    }
  });
});
