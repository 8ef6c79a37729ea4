import { describe, expect, it } from 'vitest';
import type { BatchProgress } from '../../../../src/domain/messages/messages.ts';
import { batchDetails } from '../../../../workflows/batch/batch-details.ts';
import { endOf } from '../../../../workflows/batch/run-batch.ts';

const PROGRESS: BatchProgress = {
  ...{ batchId: 'batch-may', phase: 'sending', paused: false, cancelled: false, invoices: 300 },
  ...{ pages: 1, pagesSent: 0, pagesDone: 0, pagesFailed: 0, asOf: null, counts: {}, net: [] },
  waitingFor: 'answers-unreadable',
};

describe('the current details of a batch whose profile does not fit', () => {
  it('hold the sentence behind the code, and say whose move it is', () => {
    const misfits = ['5 answers came whole, and none | was read.', '12 of 12 deliveries refused: …'];
    const snapshot = { at: 0, counts: {}, net: [], problems: 0, misfits };

    const text = batchDetails({ progress: PROGRESS, snapshot, links: null, attachedTo: null, end: null });

    expect(text).toContain('| Waits for | answers-unreadable |');
    expect(text).toContain('| What to do | The service profile does not fit the service: correct the file');
    expect(text).toContain('| Service profile | 5 answers came whole, and none \\| was read. |');
    expect(text).toContain('| Service profile | 12 of 12 deliveries refused: … |');
  });

  it('say nothing of the service profile where nothing is known of it', () => {
    const snapshot = { at: 0, counts: {}, net: [], problems: 0 };

    const text = batchDetails({ progress: PROGRESS, snapshot, links: null, attachedTo: null, end: null });

    expect(text).not.toContain('| Service profile |');
  });
});

it.each([
  [0, '| Now | sending invoices |'],
  [1, '| Now | all sent: waiting for final answers |'],
])('the current details call a batch sent once all its pages are: %d of 1', (pagesSent, now) => {
  const progress = { ...PROGRESS, phase: 'waiting', pagesSent } as const;

  expect(batchDetails({ progress, snapshot: null, links: null, attachedTo: null, end: null })).toContain(now);
});

describe('the current details at the end of a batch', () => {
  const view = { progress: PROGRESS, snapshot: null, links: null, attachedTo: null };

  it('hold an input for the next step that can be pasted as it is', () => {
    const end = { batchId: 'batch-may', state: 'finished', problems: 2, contradicted: 0, totalsDiffer: false } as const;
    const links = { searchable: false, console: null, reportsDir: '/r' };

    expect(batchDetails({ ...view, end: { ...end, links } })).toContain('`{"batch": "batch-may"}`');
  });

  it.each([
    ['every invoice went out', { issued: 3 }, undefined, 0, 'Nothing: every invoice went out'],
    ['the control totals differ', { 'already-issued': 3 }, 'differ', 1, 'compare it with its source'],
    [
      'the control totals differ and some are held',
      { issued: 1, held: 2 },
      'differ',
      2,
      '2 invoices are not confirmed',
    ],
    [
      'an invoice went out and is in doubt',
      { issued: 3, contradicted: 1 },
      undefined,
      1,
      '1 invoice went out and may exist',
    ],
    [
      'one is in doubt, and another failed',
      { issued: 2, failed: 1, contradicted: 1 },
      undefined,
      2,
      'do not send it again. 1 invoice is not confirmed',
    ],
  ] as const)('at the end where %s', (_, counts, totalsDiffer, problems, words) => {
    const links = { searchable: false, console: null, reportsDir: '/r' };
    const result = { batchId: 'batch-may', state: 'finished', counts: { invoices: 3, ...counts } } as const;

    const end = endOf(totalsDiffer === undefined ? result : { ...result, totalsDiffer }, links);

    expect(end.problems).toBe(problems);
    expect(batchDetails({ ...view, end })).toContain(words);
  });
});
