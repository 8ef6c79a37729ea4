import { describe, expect, it } from 'vitest';
import { DATABASE_FAULTS, liveThroughDatabaseFault } from './database-faults.ts';

const INVOICES = Number(process.env['CHAOS_INVOICES'] ?? 300);

/** Faults of the ledger's own database: none lost, none twice, and the batch ends by itself. */
describe('the matrix of database faults', () => {
  it.each(DATABASE_FAULTS)('$name', async (fault) => {
    const [forMs] = fault.forMs;

    const end = await liveThroughDatabaseFault(fault, { invoices: INVOICES, forMs });

    if (end === null) return;
    const { name, posts, failures, toldWhy } = end;
    console.log(
      `${name.padEnd(20)} ${INVOICES} issued, ${posts} POSTs, 0 lost, 0 double, ${failures} failures, said why: ${toldWhy}`,
    );
    expect(toldWhy, 'the run said what it waits for').toBe(true);
  });
});
