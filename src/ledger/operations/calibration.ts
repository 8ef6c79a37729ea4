import {
  blankCalibration,
  type CalibrationInvoice,
  type CalibrationPlace,
  type CalibrationState,
} from '../../domain/calibration-state.ts';
import type { Database } from '../../database/database.ts';
import { changeFact, findFact } from '../facts.ts';
import { column } from '../sql.ts';
import { FAILED_EVENT, joinFailedEvent } from '../settling/settling.ts';

const CALIBRATION_INVOICES = `/* calibration-invoices */
SELECT bi.batch_id, bi.ordinal, i.invoice_id, i.state, i.attempts, i.service_id, ${FAILED_EVENT}
FROM unnest($1::text[], $2::integer[]) AS u(batch_id, ordinal)
JOIN batch_invoice bi ON bi.batch_id = u.batch_id AND bi.ordinal = u.ordinal
JOIN LATERAL (SELECT * FROM invoice own WHERE own.invoice_id = bi.invoice_id OFFSET 0) i ON true
${joinFailedEvent('i')}
ORDER BY bi.batch_id, bi.ordinal`;

/** Shares calibration states between processes. `profileDigest` identifies an application, its service and its profile (`profileDigestOf`). */
export function createCalibrations(database: Database) {
  return {
    calibration: async (profileDigest: string): Promise<CalibrationState> =>
      (await findFact<CalibrationState>(database, keyOf(profileDigest))).value ?? blankCalibration(),

    /** Changes a draft of the state under a lock, and returns the new state. `change` may run again after a deadlock. */
    calibrate: (profileDigest: string, change: (draft: CalibrationState) => void): Promise<CalibrationState> =>
      changeFact<CalibrationState, CalibrationState>(database, keyOf(profileDigest), (known) => {
        const state = known ?? blankCalibration();
        change(state);
        return [state, state];
      }),

    /** Returns the present state of these invoices. */
    calibrationInvoices: (places: readonly CalibrationPlace[]) =>
      database.query<CalibrationInvoice>(CALIBRATION_INVOICES, [
        column(places, ({ batchId }) => batchId),
        column(places, ({ ordinal }) => ordinal),
      ]),
  };
}

function keyOf(profileDigest: string): string {
  return `calibration ${profileDigest}`;
}
