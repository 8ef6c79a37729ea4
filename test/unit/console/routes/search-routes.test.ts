import { describe, expect, it } from 'vitest';
import { aBatch, anInvoice, ledgerHolding, testConsole, visit } from '../console-ledger.ts';
import type { InvoiceSearch, InvoiceSearchResult, SearchBounds } from '../../../../src/ledger/batches/search.ts';

const NOTHING: InvoiceSearchResult = { found: [], lookedAt: 0, backTo: null, next: null };
const FOUND = {
  ...anInvoice({ ref: '=cmd|x', net: '1234.5' }),
  ...{ batchId: 'b/1', application: 'nord', file: 'may.csv', readAt: 0 },
};

/** Asks the console for an address, and tells what the ledger was asked. */
async function ask(path: string, result: InvoiceSearchResult = NOTHING) {
  const asked: { search: InvoiceSearch; bounds: SearchBounds }[] = [];
  const app = testConsole({
    ledger: ledgerHolding(
      [{ batch: aBatch(), invoices: [anInvoice({ ref: '+1' }), anInvoice({ ordinal: 2, state: 'failed' })] }],
      {
        searchInvoices: async (search, bounds) => {
          asked.push({ search, bounds });
          return result;
        },
      },
    ),
    timeZone: 'Europe/Madrid',
  });
  const answer = await visit(app, path);
  return { asked, text: await answer.text() };
}

describe('the search page', () => {
  it('asks the ledger for nothing before a search', async () => {
    const { asked, text } = await ask('/search');

    expect(asked).toEqual([]);
    expect(text).not.toContain('Nothing found.');
  });

  it('takes words, an amount as people type it, and days of the zone that it shows', async () => {
    const { asked, text } = await ask('/search?q=+Ana+&net=1.234,50&from=2026-07-01&to=2026-07-01');

    expect(asked[0]?.search).toEqual({
      words: 'Ana',
      net: '1234.5',
      from: Date.UTC(2026, 5, 30, 22),
      before: Date.UTC(2026, 6, 1, 22),
    });
    expect(text).toContain('Amount read as 1,234.50.');
  });

  it.each([
    ['/search?net=abc', 'This is no amount: abc'],
    ['/search?q=a&from=yesterday', 'This is no date: yesterday'],
    ['/search?to=2026-02-30', 'This is no date: 2026-02-30'],
  ])('says what it cannot read instead of leaving it out: %s', async (path, sentence) => {
    const { asked, text } = await ask(path);

    expect(asked).toEqual([]);
    expect(text).toContain(sentence);
  });

  it('says how far it looked, and its way on begins there', async () => {
    const next = { batchId: 'batch-a-1', ordinal: 7 };
    const { text } = await ask('/search?q=ana', { ...NOTHING, lookedAt: 1000, backTo: 0, next });
    const way = /href="(\/search\?q=ana&amp;after=[^"]*)"/u.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';

    expect(text).toContain('1,000 invoices were looked at one by one');
    expect((await ask(way)).asked[0]?.bounds.after).toEqual(next);
  });

  it('offers to look at parts of names where an index gave the answer', async () => {
    const { text } = await ask('/search?q=F-1', { ...NOTHING, found: [FOUND] });

    expect(text).toContain('/search?q=F-1&amp;parts=1');
    expect((await ask('/search?q=F-1&parts=1')).asked[0]?.search.parts).toBe(true);
  });
});

it('says of an invoice that went out and is in doubt so where it is found', async () => {
  const flag = 'failed-after-issued';
  const result = { ...NOTHING, found: [{ ...FOUND, flags: [flag], contradictions: [flag] as const }] };

  const { text } = await ask('/search?q=x', result);

  expect(text).toContain('<div>The service said that it was issued, and then that it failed.</div>');
  expect(text).toContain('=cmd|x');
});
