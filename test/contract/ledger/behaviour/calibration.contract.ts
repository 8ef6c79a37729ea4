import { describe, expect, it } from 'vitest';
import { blankCalibration, noteFound, stopCalibration } from '../../../../src/domain/calibration.ts';
import { createScenario, NOW } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

export function calibrationContract(ledger: Ledger): void {
  describe('what is known of a service profile', () => {
    const scenario = createScenario(ledger);

    it('is nothing at first, and of one profile alone', async () => {
      const digest = `first of ${scenario.application}`;
      expect(await ledger.calibration(digest)).toEqual(blankCalibration());

      await ledger.calibrate(digest, (draft) => stopCalibration(draft, { code: 'code', message: 'Wrong.' }, NOW));

      expect(await ledger.calibration(digest)).toMatchObject({ stop: { code: 'code' }, found: [{ code: 'code' }] });
      expect(await ledger.calibration(`second of ${scenario.application}`)).toEqual(blankCalibration());
    });

    it('loses no change of many that are made at the same time', async () => {
      const digest = `together of ${scenario.application}`;
      const codes = Array.from({ length: 8 }, (_, at) => `code-${at}`);

      await Promise.all(
        codes.map((code) => ledger.calibrate(digest, (draft) => noteFound(draft, { code, message: code }, NOW))),
      );

      const { found } = await ledger.calibration(digest);
      expect(found.map(({ code }) => code).toSorted()).toEqual(codes);
    });

    it('has what became of the invoices that are out', async () => {
      const batch = await scenario.run(['A', 'B']);
      const places = [1, 2, 9].map((ordinal) => ({ batchId: batch.batchId, ordinal }));

      expect(await ledger.calibrationInvoices(places)).toMatchObject([
        { ordinal: 1, state: 'staged', attempts: 0, serviceId: null, failedEvent: null },
        { ordinal: 2, state: 'staged', attempts: 0, serviceId: null, failedEvent: null },
      ]);
      expect(await ledger.calibrationInvoices([])).toEqual([]);
    });
  });
}
