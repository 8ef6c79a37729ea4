import { describe, expect, it } from 'vitest';
import { clockWarnings, nightlyLines } from '../../../../src/cli/output/nightly-lines.ts';
import type { NightlyState } from '../../../../src/wiring/schedules/nightly-schedule.ts';

const ALONE = { application: 'default', isOneOfSeveral: false, taskQueue: 'lote' };
const STATE: NightlyState = {
  scheduleId: 'lote-nightly',
  taskQueue: 'lote',
  hour: 2,
  minute: 0,
  timezone: 'Europe/Lisbon',
  catchUpMs: 12 * 3_600_000,
  paused: false,
  note: 'Every night',
  nextTimes: [new Date('2027-07-01T01:00:00Z')],
  recent: [
    {
      scheduledAt: new Date('2027-06-30T01:00:00Z'),
      takenAt: new Date('2027-06-30T01:00:00Z'),
      workflowId: 'nightly-issuance-2027-06-30T01:00:00Z',
    },
  ],
  running: [],
};

describe('what `lote nightly show` says', () => {
  it('names the next command while nights are off', () => {
    expect(nightlyLines(null, { ...ALONE, inputDir: 'input' })).toEqual([
      expect.stringContaining('lote nightly on --at 02:00'),
    ]);
  });

  it('gives times in the zone of the night, not of the machine', () => {
    const lines = nightlyLines(STATE, { ...ALONE, inputDir: '/srv/input' });

    expect(lines[0]).toBe('Nights are on: every day at 02:00 Europe/Lisbon, files of /srv/input');
    expect(lines).toContain('Next         2027-07-01 02:00');
    expect(lines).toContain('Ran          2027-06-30 02:00  nightly-issuance-2027-06-30T01:00:00Z');
  });

  it('says that nights are paused, why, and how to let them go', () => {
    const lines = nightlyLines(
      { ...STATE, paused: true, note: 'paused due to workflow failure' },
      { ...ALONE, inputDir: 'input' },
    );

    expect(lines[0]).toBe('Nights are PAUSED: paused due to workflow failure');
    expect(lines[1]).toContain('lote nightly on');
  });
});

describe('warnings about the clock', () => {
  it('name the date without the time and the date that has it twice', () => {
    const warnings = clockWarnings({ hour: 2, minute: 30, timezone: 'Europe/Madrid' }, Date.UTC(2027, 0, 1));

    expect(warnings).toEqual([
      expect.stringContaining('On 2027-03-28 the clock of Europe/Madrid has no 02:30'),
      expect.stringContaining('On 2027-10-31 the clock of Europe/Madrid shows 02:30 twice'),
    ]);
  });

  it('are none for a time that every day has once', () => {
    expect(clockWarnings({ hour: 2, minute: 0, timezone: 'Europe/Lisbon' }, Date.UTC(2027, 0, 1))).toEqual([]);
  });
});
