import { describe, it } from 'vitest';
import { DATABASE_FAULTS, liveThroughDatabaseFault } from './database-faults.ts';

/** So many that a table must grow while the disk is full: the rows of 45 sometimes fit into pages that are there. */
const INVOICES = 90;

/** A small version of the matrix: `npm run test:chaos` has the long one. */
describe('a batch whose database fails', () => {
  it.each(DATABASE_FAULTS)('issues every invoice once when it is over: $name', async (fault) => {
    const [, forMs] = fault.forMs;

    await liveThroughDatabaseFault(fault, { invoices: INVOICES, forMs });
  });
});
