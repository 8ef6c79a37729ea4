import { describe, expect, it } from 'vitest';
import { nightlyLines, nightlyTime } from '../../../../src/cli/commands/nightly.ts';
import type { NightlyState } from '../../../../src/app/schedules/nightly-schedule.ts';

const DAY_MS = 86_400_000;
const NIGHT = Date.UTC(2027, 0, 15, 2);
const ALONE = { application: 'default', taskQueue: 'lote' };
const STATE: NightlyState = {
  ...{ scheduleId: 'lote-nightly', taskQueue: 'lote', hour: 2, minute: 5, timezone: 'Europe/Lisbon' },
  catchUpMs: 5_400_000,
  ...{ paused: false, note: null, nextTimes: [], recent: [], running: [] },
};

function nights(count: number): Date[] {
  return Array.from({ length: count }, (_, at) => new Date(NIGHT + at * DAY_MS));
}

function lines(over: Partial<NightlyState>): readonly string[] {
  return nightlyLines({ ...STATE, ...over }, { ...ALONE, inputDir: 'input' });
}

describe('`lote nightly show`, line by line', () => {
  it('of nights that are off, or have not run yet', () => {
    expect(nightlyLines(null, { ...ALONE, inputDir: 'input' })).toEqual([
      'Nights are off. Switch them on with: lote nightly on --at 02:00 --timezone Europe/Lisbon',
    ]);
    expect(lines({})).toEqual([
      'Nights are on: every day at 02:05 Europe/Lisbon, files of input',
      'One at a time; a missed night is caught up with within 1.5 h; a night that fails pauses the next ones.',
    ]);
  });

  it('of nights that start on a task queue where no worker of this Lote is', () => {
    expect(lines({ taskQueue: 'lote-before' }).slice(0, 3)).toEqual([
      'Nights DO NOT RUN HERE: they start on task queue lote-before, and this Lote works on lote.',
      'Take them here with: lote nightly on (it refuses where another installation works on lote-before)',
      'There nights are on: every day at 02:05 Europe/Lisbon',
    ]);
  });

  it('of nights that are paused, with a reason or without', () => {
    const next = 'Look at the last run, then let them go again with: lote nightly on';
    expect(lines({ paused: true, note: null }).slice(0, 2)).toEqual(['Nights are PAUSED', next]);
    expect(lines({ paused: true, note: 'holidays' }).slice(0, 2)).toEqual(['Nights are PAUSED: holidays', next]);
  });

  it.each([
    ['the times were changed in the UI', { hour: null }, 'at times of their own Europe/Lisbon'],
    ['it has no zone', { timezone: null }, 'every day at 02:05 UTC'],
  ])('when %s', (_, over, when) => {
    expect(lines(over)[0]).toBe(`Nights are on: ${when}, files of input`);
  });

  it('names what runs, five nights to come in order, and the three last runs, newest first', () => {
    const recent = nights(4).map((takenAt, at) => ({ takenAt, scheduledAt: takenAt, workflowId: `night-${at}` }));

    expect(lines({ nextTimes: nights(9), running: ['night-4'], recent }).slice(2)).toEqual([
      ...[15, 16, 17, 18, 19].map((day) => `Next         2027-01-${day} 02:00`),
      'Running      night-4',
      ...[3, 2, 1].map((night) => `Ran          2027-01-${15 + night} 02:00  night-${night}`),
    ]);
  });

  it('gives times in the zone of the nights, on its side of the date', () => {
    const late = [new Date(Date.UTC(2027, 6, 1, 23, 30))];

    expect(lines({ timezone: 'Europe/Madrid', nextTimes: late })[2]).toBe('Next         2027-07-02 01:30');
    expect(lines({ timezone: 'America/New_York', nextTimes: late })[2]).toBe('Next         2027-07-01 19:30');
  });
});

it('the time of a night has hours and minutes, and its zone as Temporal spells it, which takes no other spelling', () => {
  const read = ['02:00', '2:05', '23:59', '00:00'].map((at) => nightlyTime(at, 'europe/lisbon'));

  expect(read.map(({ hour, minute }) => [hour, minute])).toEqual([
    [2, 0],
    [2, 5],
    [23, 59],
    [0, 0],
  ]);
  expect(new Set(read.map(({ timezone }) => timezone))).toEqual(new Set(['Europe/Lisbon']));
  for (const at of ['24:00', '2', '02:60', '2am', '', '02:00:00', ' 02:00'])
    expect(() => nightlyTime(at, 'UTC'), at).toThrow(/--at must be a time such as 02:00, found/u);
  for (const zone of ['Lisbon', '+01:00'])
    expect(() => nightlyTime('02:00', zone)).toThrow(/IANA name such as Europe\/Lisbon.*found "/u);
});
