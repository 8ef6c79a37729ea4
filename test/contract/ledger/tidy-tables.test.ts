import { expect, it, onTestFinished } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { temporaryDatabase } from '../../support/servers/temporary-database.ts';
import { createScenario, finishStaging, invalidInvoice } from './scenario.ts';

it('tidies the tables after the first file, and again after 1,000 more rows', async () => {
  const { ledger, tidied } = await watchedLedger();
  const scenario = createScenario(ledger);

  await stageRows(1);
  expect(tidied()).toBe(1);
  await stageRows(500);
  await stageRows(499);
  expect(tidied()).toBe(1);
  await stageRows(1);
  expect(tidied()).toBe(2);
  await stageRows(1_000);
  expect(tidied()).toBe(3);

  async function stageRows(count: number): Promise<void> {
    const batch = await scenario.begin();
    const invoices = Array.from({ length: count }, (_, index) => invalidInvoice(index + 1));
    await ledger.stageInvoices(batch, invoices, 0);
    await finishStaging(ledger, batch, { invoices: count, pageSize: 1_000 });
  }
});

/** A ledger on PGlite, and how often its tables were tidied. */
async function watchedLedger(): Promise<{ readonly ledger: Ledger; tidied(): number }> {
  let tidied = 0;
  const inner = await temporaryDatabase();
  const query: typeof inner.query = (text, params) => {
    if (text.includes('/* tidy-tables */')) tidied += 1;
    return inner.query(text, params);
  };
  const ledger = await openLedger({ database: { ...inner, query }, schema: null, keyOf: idempotencyKeyOf });
  onTestFinished(() => ledger.close());
  return { ledger, tidied: () => tidied };
}
