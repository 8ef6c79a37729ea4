import { describe, expect, it } from 'vitest';
import { Calibration, type CalibrationDeps } from '../../../activities/calibration.ts';
import { blankCalibration, type CalibrationInvoice, type CalibrationState } from '../../../src/domain/calibration.ts';

/** A ledger of one batch, of which these invoices have a place, and all ordinals from 1 to 2,000 are unsent that have none. */
function calibrationWith(places: readonly Pick<CalibrationInvoice, 'ordinal' | 'state'>[]) {
  const batchId = 'b';
  const out = places.map(({ ordinal }) => ({ batchId, ordinal, at: 0 }));
  let state: CalibrationState = { ...blankCalibration(), began: 0, out };
  const ledger: Partial<CalibrationDeps['ledger']> = {
    calibration: async () => structuredClone(state),
    async calibrate(_digest, change) {
      state = structuredClone(state);
      change(state);
      return state;
    },
    calibrationInvoices: async () =>
      places.map((one) => ({ ...one, batchId, invoiceId: 1, attempts: 0, serviceId: null, failedEvent: null })),
    firstUnsent: async (_batchId, { limit, from = 1 }) =>
      Array.from({ length: limit }, (_, at) => ({ ordinal: from + at, merchantNif: '501234560' })),
  };
  return new Calibration({
    ...({ ledger, service: {}, log: {} } as unknown as Pick<CalibrationDeps, 'ledger' | 'service' | 'log'>),
    ...{ profileDigest: 'digest', now: () => 1_000 },
    rules: {
      ...{ issued: ['issued'], failed: ['failed'], expectsEvents: true },
      ...{ noEventsMs: 30_000, secondLookMs: 15_000, earlyLookMs: 450_000 },
    },
  });
}

describe('the places of a slice', () => {
  it('are those that its invoices have and were not sent for, wherever they stand, and others while there is room', async () => {
    const places = Array.from({ length: 20 }, (_, at) => ({
      ordinal: 991 + at,
      state: at < 18 ? ('accepted' as const) : ('sending' as const),
    }));

    expect(await calibrationWith(places).places({ batchId: 'b', from: 1, to: 2_000 })).toEqual({
      ...{ ordinals: [1_009, 1_010], hasMore: true },
    });
    expect(await calibrationWith(places).places({ batchId: 'b', from: 1, to: 900 })).toEqual({
      ...{ ordinals: [], hasMore: true },
    });
    expect(await calibrationWith(places.slice(1)).places({ batchId: 'b', from: 1, to: 2_000 })).toEqual({
      ...{ ordinals: [1_009, 1_010, 1], hasMore: true },
    });
  });
});
