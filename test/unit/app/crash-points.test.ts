import { describe, expect, it } from 'vitest';
import { tested } from '../../../src/app/start/test-points.ts';
import { CRASH_POINTS, createCrashPoints } from '../../support/crash/crash-points.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';

const nothing = (): void => undefined;

function pointsAt(crashAt: string) {
  return createCrashPoints({ crashAt, killSelf: nothing, stopSelf: nothing });
}

describe('crash points', () => {
  it('hand every part back as it is without a preload', () => {
    const ledger = {} as Ledger;

    expect(tested('ledger', ledger)).toBe(ledger);
  });

  it.each([
    ['after-claim', false],
    ['before-rows', true],
    ['stop@after-rows:2', true],
  ])('at %s need rows in the ledger: %s', (crashAt, expected) => {
    expect(pointsAt(crashAt)('buffersRows', true)).toBe(!expected);
  });

  it.each(['', 'nowhere', 'after-freeze:0', 'worker@after-freeze', 'temporal@stop@after-freeze', 'after-freeze '])(
    'refuse %j',
    (crashAt) => {
      expect(() => pointsAt(crashAt)).toThrow(/CRASH_AT/);
    },
  );

  it('have each name once', () => {
    expect(new Set(CRASH_POINTS).size).toBe(CRASH_POINTS.length);
  });
});
