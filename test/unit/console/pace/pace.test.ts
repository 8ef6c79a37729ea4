import { describe, expect, it } from 'vitest';
import { howFar, paceOf } from '../../../../src/console/pace/pace.ts';
import { createPaceSamples, type PaceSample } from '../../../../src/console/pace/pace-samples.ts';
import { stateCounts } from '../../../../src/console/pages/state-counts.ts';

const at = (seconds: number, settled: number) => ({ at: seconds * 1_000, sent: settled, settled });

describe('the pace of a batch', () => {
  it('is that of the last minute, and says what is left at it', () => {
    const line = [at(0, 0), at(60, 6_000), at(90, 6_300), at(120, 6_600)];

    expect(paceOf(line, 600)).toEqual({ perSecond: 10, leftMs: 60_000 });
  });

  it('is that of a shorter line as a whole', () => {
    expect(paceOf([at(0, 0), at(10, 50)], 50)).toEqual({ perSecond: 5, leftMs: 10_000 });
  });

  it.each([
    ['nothing moves', [at(0, 5), at(70, 5)]],
    ['everything is settled', [at(0, 0), at(10, 100)]],
    ['nothing was seen', []],
    ['a retry took settled ones back', [at(0, 50), at(10, 40)]],
  ])('promises no end when %s', (_, line) => {
    const left = Math.max(0, 100 - (line.at(-1)?.settled ?? 0));

    expect(paceOf(line, left).leftMs).toBeNull();
  });

  it('is not known when nobody looked about a minute ago', () => {
    const unknown = { perSecond: null, leftMs: null };

    expect(paceOf([at(0, 0), at(3_600, 36_000)], 100)).toEqual(unknown);
    expect(paceOf([at(0, 0), at(3_600, 36_000), at(3_610, 36_100)], 100)).toEqual(unknown);
    expect(paceOf([at(0, 0), at(3_600, 36_000), at(3_700, 36_100)], 100)).toEqual({ perSecond: 1, leftMs: 100_000 });
  });

  it('counts what can be sent, without what never is; what may never be settled is not waited for', () => {
    const counts = {
      ...stateCounts([]),
      staged: 5,
      accepted: 3,
      issued: 2,
      failed: 1,
      invalid: 7,
      held: 4,
      unknown: 1,
      unsettled: 2,
    };

    expect(howFar(counts)).toEqual({ sent: 9, settled: 3, all: 14, left: 8 });
  });
});

describe('the line of a batch', () => {
  const batch = { batchId: 'b', startedAt: 0 };

  it('begins with the file, takes a moment once, and stays whole and short for as long as somebody looks', () => {
    const samples = createPaceSamples();
    expect(samples.note(batch, at(1, 1))).toEqual([at(0, 0), at(1, 1)]);
    expect(samples.note(batch, at(1, 2))).toEqual([at(0, 0), at(1, 1)]);

    for (let second = 2; second < 5_000; second += 1) samples.note(batch, at(second, second));
    const line = samples.note(batch, at(5_000, 5_000));

    expect(line.length).toBeLessThanOrEqual(240);
    expect([line[0], line.at(-1)]).toEqual([at(0, 0), at(5_000, 5_000)]);
    expect(line.map((one) => one.at)).toEqual([...new Set(line.map((one) => one.at))].sort((a, b) => a - b));
  });

  it('is as well drawn at its beginning as in its middle, and as dense in the last minutes as somebody looked', () => {
    const samples = createPaceSamples();
    let line: readonly PaceSample[] = [];
    for (let second = 2; second <= 20_000; second += 2) line = samples.note(batch, at(second, second));

    const gaps = line.slice(1).map((one, before) => one.at - (line[before]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(20_000_000 / 20);
    const lastMinutes = line.filter((one) => one.at > 20_000_000 - 120_000);
    expect(lastMinutes).toHaveLength(60);
    expect(paceOf(line, 600)).toEqual({ perSecond: 1, leftMs: 600_000 });
  });

  it('is not filled by many people who look at the same batch', () => {
    const samples = createPaceSamples();
    let line: readonly PaceSample[] = [];
    for (let tenth = 1; tenth <= 6_000; tenth += 1) line = samples.note(batch, at(tenth / 10, tenth));

    expect(line.length).toBeLessThanOrEqual(240);
    expect(line.at(-1)).toEqual(at(600, 6_000));
    expect(paceOf(line, 60)).toEqual({ perSecond: 10, leftMs: 6_000 });
  });

  it('is forgotten for those that nobody has looked at for longest', () => {
    const samples = createPaceSamples();
    samples.note(batch, at(1, 1));
    samples.note({ ...batch, batchId: 'other' }, at(1, 1));
    for (let n = 0; n < 49; n += 1) samples.note({ ...batch, batchId: `b${n}` }, at(1, 1));

    expect(samples.note({ ...batch, batchId: 'other' }, at(2, 2))).toHaveLength(3);
    expect(samples.note(batch, at(2, 2))).toHaveLength(2);
  });
});
