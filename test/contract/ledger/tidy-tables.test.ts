import { expect, it, onTestFinished } from 'vitest';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import { notingDatabase } from '../../support/ledger/statement-plans.ts';
import { temporaryDatabase } from '../../support/servers/temporary-database.ts';
import { createScenario, invalidInvoice } from './scenario.ts';

it('looks at the tables after the first file, and again after 1,000 more rows', async () => {
  const { looked, stage } = await watchedLedger();

  await stage(1);
  expect(looked()).toBe(1);
  await stage(500);
  await stage(499);
  expect(looked()).toBe(1);
  await stage(1);
  expect(looked()).toBe(2);
  await stage(1_000);
  expect(looked()).toBe(3);
});

it('tidies only tables that have grown by a tenth since', async () => {
  const { tidied, stage } = await watchedLedger();

  await stage(12_000);
  expect(tidied()).toEqual(['batch_invoice']);
  await stage(1_000);
  expect(tidied(), 'a twelfth more').toEqual(['batch_invoice']);
  await stage(1_000);
  expect(tidied(), 'two twelfths more').toEqual(['batch_invoice', 'batch_invoice']);
});

interface WatchedLedger {
  /** How often the sizes of tables were asked for. */
  looked(): number;
  /** Names of tables of each statement that tidied. */
  tidied(): readonly string[];
  /** Stages a file of so many invalid invoices. */
  stage(count: number): Promise<void>;
}

/** A ledger on PGlite. */
async function watchedLedger(): Promise<WatchedLedger> {
  const asked: string[] = [];
  const inner = await temporaryDatabase();
  const ledger = await openLedger(notingDatabase(inner, (text) => asked.push(text)));
  onTestFinished(() => ledger.close());
  const scenario = createScenario(ledger);
  return {
    looked: () => asked.filter((text) => text.includes('/* grown-tables */')).length,
    tidied: () =>
      asked.flatMap(
        (text) => /\/\* tidy-tables \*\/\nVACUUM \([^)]*\) (?<tables>.+)/u.exec(text)?.groups?.['tables'] ?? [],
      ),
    stage: (count) => stageRows(ledger, scenario, count),
  };
}

async function stageRows(ledger: Ledger, scenario: ReturnType<typeof createScenario>, count: number): Promise<void> {
  const batch = await scenario.begin();
  const invoices = Array.from({ length: count }, (_, index) => invalidInvoice(index + 1));
  await ledger.stageInvoices(batch, invoices, 0);
  await batch.finishStaging(count, 1_000);
}
