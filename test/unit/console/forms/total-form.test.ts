import { describe, expect, it } from 'vitest';
import type { BatchWatch, Operation } from '../../../../src/console/console-options.ts';
import { aBatch, anInvoice, ledgerHolding, pageAt, postForm, testConsole } from '../console-ledger.ts';
import type { SavedTotalCheck } from '../../../../src/domain/records/total-check.ts';

const PAGE = '/batches/batch-may-0a1b2c3d';
const HELD: BatchWatch = { paused: false, cancelled: false, waitingFor: 'total-unusual' };
const UNUSUAL: SavedTotalCheck = {
  pattern: 'may_#.csv',
  total: { invoices: 13_200, net: { EUR: '1000000.5' } },
  check: {
    ...{ kind: 'unusual', batches: 7, factor: 5, difference: '13200 invoices, usually 1200.' },
    usual: { invoices: 1_200, net: { EUR: '90000' } },
  },
  confirmedAt: null,
};

interface Given {
  readonly saved?: SavedTotalCheck;
  readonly watch?: BatchWatch | null;
  readonly operated?: Operation[];
}

function appWith({ saved = UNUSUAL, watch = HELD, operated = [] }: Given) {
  const batch = aBatch({ state: 'running', finishedAt: null });
  return testConsole({
    ledger: ledgerHolding([{ batch, invoices: [anInvoice({ state: 'held' })] }], { totalCheck: async () => saved }),
    actions: {
      operate: async (_, operation) => {
        operated.push(operation);
        return 'ok';
      },
      watch: async () => watch,
    },
  });
}

const pageOf = (given: Given, language = 'en') => pageAt(appWith(given), PAGE, language);
const confirm = (given: Given, fields: Record<string, string>) =>
  postForm(appWith(given), `${PAGE}/operations`, { kind: 'confirmTotal', ...fields });

describe('the page of a batch that is held because of its total', () => {
  it.each([
    ['en', 'held: confirm the total', '13,200', '1,000,000.5', 'from the last 7 files named may_#.csv'],
    ['pt-PT', 'retido: confirmar o total', '13 200', '1 000 000,5', 'dos últimos 7 ficheiros'],
    ['es-ES', 'retenido: confirmar el total', '13.200', '1.000.000,5', 'de los últimos 7 archivos'],
  ])('in %s says so, with both totals, and asks for the number', async (language, ...words) => {
    const page = (await pageOf({}, language)).replaceAll(/[\u00A0\u202F]/gu, ' ');

    for (const word of words) expect(page).toContain(word);
    expect(page).toContain('value="confirmTotal"');
    expect(page).not.toContain('value="13200"');
  });

  it('has no form where no run could take the answer, or the answer was given', async () => {
    expect(await pageOf({ watch: null })).not.toContain('value="confirmTotal"');
    expect(await pageOf({ watch: { ...HELD, cancelled: true } })).not.toContain('value="confirmTotal"');
    const confirmed = await pageOf({ saved: { ...UNUSUAL, confirmedAt: 1 } });
    expect(confirmed).not.toContain('value="confirmTotal"');
  });

  it('sends number and reason, and nothing without a number or a reason', async () => {
    const operated: Operation[] = [];
    expect((await confirm({ operated }, { invoices: '13200', reason: 'year' })).headers.get('location')).toBe(
      '/batches/batch-may-0a1b2c3d?done=confirmTotal',
    );
    expect((await confirm({ operated }, { invoices: 'all', reason: 'year' })).status).toBe(303);
    expect((await confirm({ operated }, { invoices: '', reason: 'year' })).status).toBe(303);
    expect((await confirm({ operated }, { invoices: '13200', reason: ' ' })).status).toBe(303);

    expect(operated).toEqual([{ kind: 'confirmTotal', invoices: 13_200, reason: 'year' }]);
  });
});
