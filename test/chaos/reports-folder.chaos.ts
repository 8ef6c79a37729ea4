import { describe, it } from 'vitest';
import { liveThroughReportsFault, REPORTS_FAULTS } from '../support/crash/reports-fault.ts';

const INVOICES = 300;

/** Faults of the reports folder: the batch waits for it, and its report comes when the folder is back. */
describe('the matrix of the reports folder', () => {
  it.each(REPORTS_FAULTS)('$name', async (fault) => {
    const end = await liveThroughReportsFault(fault, { invoices: INVOICES });
    if (end === null) return;
    console.log(
      `reports folder ${fault.name}: ${INVOICES} issued, 0 lost, 0 double, report written; said: ${end.waitingFor}`,
    );
  });
});
