import { describe, expect, it } from 'vitest';
import { overdueNight } from '../../../../src/app/schedules/nightly-schedule.ts';

const TWO = Date.UTC(2026, 10, 21, 2);
const HOUR = 3_600_000;
const began = { scheduledAt: new Date(TWO), takenAt: new Date(TWO + 1_000), workflowId: 'lote-nightly-1' };

describe('a night that still runs', () => {
  it.each([
    ['for an hour is on time', { running: ['lote-nightly-1'], recent: [began] }, 1, false],
    ['for a day keeps the next one from beginning', { running: ['lote-nightly-1'], recent: [began] }, 25, true],
    ['no more is over', { running: [], recent: [began] }, 25, false],
    ['that the schedule has not taken is not judged', { running: ['lote-nightly-1'], recent: [] }, 25, false],
  ])('%s', (_name, state, hours, isOverdue) => {
    const expected = { workflowId: 'lote-nightly-1', beganAt: began.takenAt };

    expect(overdueNight(state, TWO + hours * HOUR)).toEqual(isOverdue ? expected : null);
  });
});
