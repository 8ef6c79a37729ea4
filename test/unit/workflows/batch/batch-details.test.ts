import { describe, expect, it } from 'vitest';
import type { BatchProgress } from '../../../../src/contract/messages.ts';
import { batchDetails } from '../../../../workflows/batch/batch-details.ts';

const PROGRESS: BatchProgress = {
  ...{ batchId: 'batch-may', phase: 'sending', paused: false, cancelled: false, invoices: 300 },
  ...{ pages: 1, pagesSent: 0, pagesDone: 0, pagesFailed: 0, asOf: null, counts: {}, net: [] },
  waitingFor: 'answers-unreadable',
};

describe('the current details of a batch whose profile does not fit', () => {
  it('hold the sentence behind the code, and say whose move it is', () => {
    const misfits = ['5 answers came whole, and none | was read.', '12 of 12 deliveries refused: …'];
    const snapshot = { at: 0, counts: {}, net: [], problems: 0, problemGroups: [], misfits };

    const text = batchDetails({ progress: PROGRESS, snapshot, links: null, attachedTo: null, end: null });

    expect(text).toContain('| Waits for | answers-unreadable |');
    expect(text).toContain('| What to do | The service profile does not fit the service: correct the file');
    expect(text).toContain('| Service profile | 5 answers came whole, and none \\| was read. |');
    expect(text).toContain('| Service profile | 12 of 12 deliveries refused: … |');
  });

  it('are as before where nothing is known of that, as in histories of an earlier version', () => {
    const snapshot = { at: 0, counts: {}, net: [], problems: 0, problemGroups: [] };

    expect(batchDetails({ progress: PROGRESS, snapshot, links: null, attachedTo: null, end: null })).not.toContain(
      '| Service profile |',
    );
  });
});
