import { describe, expect, it } from 'vitest';
import { OUTCOMES, type Outcome } from '../../../../src/domain/invoice-state.ts';
import type { BatchInvoice } from '../../../../src/domain/ports/ledger/batch-record.ts';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { watchOpenOutcomes } from '../../../../src/wiring/reports/open-outcomes.ts';

function line(ordinal: number, state: Outcome, generation = 1): BatchInvoice {
  return { ordinal, state, generation, ref: `R${ordinal}` } as BatchInvoice;
}

function ledgerOf(...portions: readonly (readonly BatchInvoice[])[]): Ledger {
  const part: Pick<Ledger, 'batchInvoices' | 'id'> = {
    id: 'ledger-1',
    async *batchInvoices() {
      for (const portion of portions) yield portion;
    },
  };
  return part as Ledger;
}

async function readAll(ledger: Ledger): Promise<readonly BatchInvoice[]> {
  const lines: BatchInvoice[] = [];
  for await (const portion of ledger.batchInvoices('b')) lines.push(...portion);
  return lines;
}

describe('what a report says of invoices that may still change', () => {
  it.each(
    OUTCOMES.map((state) => [state, !['issued', 'already-issued', 'invalid', 'conflict'].includes(state)] as const),
  )('remembers %s: %s', async (state, remembered) => {
    const watched = watchOpenOutcomes(ledgerOf([line(1, state, 2)]));

    await readAll(watched.ledger);

    expect(watched.open()).toEqual(remembered ? [{ ordinal: 1, state, generation: 2 }] : []);
  });

  it('hands every line on as it is, over all portions', async () => {
    const lines = [line(1, 'issued'), line(2, 'held'), line(3, 'failed', 3)];
    const watched = watchOpenOutcomes(ledgerOf([lines[0] as BatchInvoice], lines.slice(1)));

    expect(await readAll(watched.ledger)).toEqual(lines);
    expect(watched.open().map(({ ordinal }) => ordinal)).toEqual([2, 3]);
    expect(watched.ledger.id).toBe('ledger-1');
  });

  it('is what the last reading said: one that did not balance is read again', async () => {
    const watched = watchOpenOutcomes(ledgerOf([line(1, 'held')]));

    await readAll(watched.ledger);
    await readAll(watched.ledger);

    expect(watched.open()).toHaveLength(1);
  });

  it('is nothing before anything was read', () => {
    expect(watchOpenOutcomes(ledgerOf()).open()).toEqual([]);
  });
});
