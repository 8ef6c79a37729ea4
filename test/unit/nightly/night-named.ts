import type { NightlyRun } from '../../../src/domain/records/dropped-file.ts';
import type { NightlyRunEntry } from '../../../src/domain/records/night.ts';

export function nightNamed(letter: string, date = '2026-11-21'): NightlyRun {
  const runId = letter.repeat(8);
  return { nightId: `${date}-${runId}`, date, workflowId: `night-${letter}`, runId, startedAt: 1_795_000_000_000 };
}

/** A dropped file of which all ten invoices went out; each test names what matters to it. */
export function nightEntry(given: Partial<NightlyRunEntry> = {}): NightlyRunEntry {
  return {
    ...{ slot: '0001', name: 'may.csv', shelvedAs: 'archive/2026-11-21/may.csv', verdict: 'issued' },
    ...{ sentences: [], remarks: [], known: false, resumed: false, batchId: 'batch-may-1', invoices: 10, issued: 10 },
    ...{ report: null, corrections: null },
    ...given,
  };
}
