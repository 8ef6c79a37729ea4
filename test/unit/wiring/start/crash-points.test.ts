import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { CRASH_POINTS, createCrashPoints } from '../../../../src/wiring/start/crash-points.ts';
import { readConfig } from '../../../../src/runtime/config/config.ts';

/** What happened, in order: a call of the part, or an end. */
function pointsAt(crashAt: string | null) {
  const happened: string[] = [];
  const points = createCrashPoints({
    crashAt,
    killSelf: () => happened.push('self'),
    killTemporal: () => happened.push('temporal'),
    stopSelf: (point) => happened.push(`stopped at ${point}`),
  });
  return { happened, points };
}

/** The one method of the ledger that these tests call. */
function ledgerThat(happened: string[]): Ledger {
  const part: Pick<Ledger, 'id' | 'nextRevision' | 'countOutcomes'> = {
    id: 'ledger-1',
    nextRevision: (batchId) => {
      happened.push(`revision of ${batchId}`);
      return Promise.resolve(7);
    },
    countOutcomes: () => Promise.resolve([]),
  };
  return part as Ledger;
}

describe('crash points', () => {
  it('hand every part back as it is when none is set', () => {
    const { happened, points } = pointsAt(null);
    const ledger = ledgerThat(happened);

    expect(points.ledger(ledger)).toBe(ledger);
    expect(happened).toEqual([]);
  });

  it.each([
    [null, false],
    ['after-claim', false],
    ['before-rows', true],
    ['stop@after-rows:2', true],
  ])('at %s need rows in the ledger: %s', (crashAt, expected) => {
    expect(pointsAt(crashAt).points.stopsAtRows).toBe(expected);
  });

  it('end the process before a step, or after it', async () => {
    const before = pointsAt('before-revision');
    const after = pointsAt('revision');

    await before.points.ledger(ledgerThat(before.happened)).nextRevision('batch-1');
    await after.points.ledger(ledgerThat(after.happened)).nextRevision('batch-1');

    expect(before.happened).toEqual(['self', 'revision of batch-1']);
    expect(after.happened).toEqual(['revision of batch-1', 'self']);
  });

  it('end it the time that was asked for, and only then', async () => {
    const { happened, points } = pointsAt('revision:2');
    const ledger = points.ledger(ledgerThat(happened));

    for (const batchId of ['one', 'two', 'three']) await ledger.nextRevision(batchId);

    expect(happened).toEqual(['revision of one', 'revision of two', 'self', 'revision of three']);
  });

  it('end the Temporal server when it is named', async () => {
    const { happened, points } = pointsAt('temporal@before-signal');

    await points.signal((page: string) => Promise.resolve(void happened.push(`signal ${page}`)))('page-1');

    expect(happened).toEqual(['temporal', 'signal page-1']);
  });

  it('let the process stand still, so that a test can end something else at this very moment', async () => {
    const { happened, points } = pointsAt('stop@before-revision:2');
    const ledger = points.ledger(ledgerThat(happened));

    for (const batchId of ['one', 'two', 'three']) await ledger.nextRevision(batchId);

    expect(happened).toEqual(['revision of one', 'stopped at before-revision', 'revision of two', 'revision of three']);
  });

  it('leave results, properties and other methods alone', async () => {
    const { happened, points } = pointsAt('before-claim');
    const ledger = points.ledger(ledgerThat(happened));

    expect(await ledger.nextRevision('batch-1')).toBe(7);
    expect(await ledger.countOutcomes('batch-1')).toEqual([]);
    expect(ledger.id).toBe('ledger-1');
  });

  it.each(['', 'nowhere', 'after-freeze:0', 'worker@after-freeze', 'temporal@stop@after-freeze', 'after-freeze '])(
    'refuse %j',
    (crashAt) => {
      expect(() => pointsAt(crashAt)).toThrow(/LOTE_CRASH_AT/);
    },
  );

  it('have each name once', () => {
    expect(new Set(CRASH_POINTS).size).toBe(CRASH_POINTS.length);
  });
});

describe('LOTE_CRASH_AT', () => {
  const service = { INVOICING_BASE_URL: 'https://invoicing.example' };

  it('is nothing unless it is set', () => {
    expect(readConfig({}).crashAt).toBeNull();
  });

  it('is taken with the sandbox and with a test key', () => {
    expect(readConfig({ LOTE_CRASH_AT: 'after-freeze' }).crashAt).toBe('after-freeze');
    expect(readConfig({ ...service, INVOICING_API_KEY: 'sk_test_a', LOTE_CRASH_AT: 'page-close' }).crashAt).toBe(
      'page-close',
    );
  });

  it('is refused with any other key', () => {
    expect(() => readConfig({ ...service, INVOICING_API_KEY: 'sk_live_a', LOTE_CRASH_AT: 'page-close' })).toThrow(
      /LOTE_CRASH_AT .* must not be set/,
    );
  });
});
