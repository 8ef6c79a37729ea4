import { describe, it } from 'vitest';
import { liveThroughReportsFault, REPORTS_FAULTS } from '../../support/crash/reports-fault.ts';

describe('a report that cannot be written', { timeout: 180_000 }, () => {
  it.each(REPORTS_FAULTS)(
    'keeps its batch waiting, which names the folder, and is written later: $name',
    async (fault) => {
      await liveThroughReportsFault(fault, { invoices: 2 });
    },
  );
});
