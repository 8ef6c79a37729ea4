import { describe, expect, it } from 'vitest';
import { deliveryNotes } from '../../../src/report/delivery-notes.ts';

describe('deliveryNotes', () => {
  it('says nothing when nothing is wrong', () => {
    expect(deliveryNotes({ unreadable: 0, unknownIds: 0 })).toEqual([]);
  });

  it('alerts of what could not be read and of invoices that nobody knows', () => {
    const notes = deliveryNotes({ unreadable: 1, unknownIds: 12 });

    expect(notes).toHaveLength(2);
    expect(notes[0]).toMatch(/^Alert: 1 webhook with a right signature could not be read/);
    expect(notes[1]).toMatch(/^Alert: 12 webhooks since this batch began told of invoices that nobody here knows/);
  });
});
