import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { aBatch, anInvoice, ledgerHolding, testConsole, visit } from '../console-ledger.ts';
import type { AuditEntry } from '../../../../src/ledger/operations/audit.ts';

const NOON = Date.UTC(2026, 4, 1, 12);
const PAGE = '/batches/batch-may-0a1b2c3d';

const PAUSED: AuditEntry = {
  ...{ at: NOON, who: 'ana', what: 'pause', why: 'tax office is closed' },
  ...{ acceptedDuplicateRisk: false, invoices: 0, examples: [] },
};
const AUDIT: readonly AuditEntry[] = [
  PAUSED,
  {
    at: NOON + 60_000,
    who: null,
    what: 'retry',
    why: '=1+1 <b>',
    acceptedDuplicateRisk: true,
    invoices: 1200,
    examples: [{ ref: '@F-1', rows: [2], move: 'abandon', from: 'unknown', generation: 1 }],
  },
];

function answerAt(path: string, audit: readonly AuditEntry[] = AUDIT, language = 'en') {
  const app = testConsole({
    ledger: ledgerHolding([{ batch: aBatch(), invoices: [anInvoice()] }], { auditOf: async () => audit }),
  });
  return visit(app, path, language);
}

describe('the audit of a batch', () => {
  it('is named on its page, with how often something was done', async () => {
    expect(await (await answerAt(PAGE)).text()).toMatch(/Done by hand<\/dt>\s*<dd><a href="[^"]+\/audit">2</u);
    expect(await (await answerAt(PAGE, [])).text()).not.toContain('/audit"');
  });

  it('tells who did what, when, why, to how many and at which risk', async () => {
    const page = await (await answerAt(`${PAGE}/audit`)).text();

    expect(page.indexOf('tax office is closed')).toBeLessThan(page.indexOf('=1+1'));
    for (const text of ['ana', 'paused', 'not known', 'sent again', '1,200', 'The risk of a duplicate was accepted.'])
      expect(page).toContain(text);
    expect(page).toContain('@F-1: unknown, sent again under a new key, the first one unsettled');
    expect(page).toContain('=1+1 &lt;b&gt;');
  });

  it('shows the newest entries of many, and the way to the older ones', async () => {
    const many = Array.from({ length: 120 }, (_, at) => ({ ...PAUSED, why: `reason ${at + 1}.` }));
    const newest = await (await answerAt(`${PAGE}/audit`, many)).text();
    const first = await (await answerAt(`${PAGE}/audit?page=1`, many)).text();

    expect(newest.match(/reason \d+\./gu)).toEqual(many.slice(100).map(({ why }) => why));
    expect(newest).toContain(`href="${PAGE}/audit?page=2"`);
    expect(newest).toContain('Page 3 / 3');
    expect(first.match(/reason \d+\./gu)).toHaveLength(50);
  });

  it.each([
    ['pt', 'Nada foi feito à mão.'],
    ['es', 'No se hizo nada a mano.'],
  ])('says in %s that nothing was done', async (language, text) => {
    const page = await (await answerAt(`${PAGE}/audit`, [], language)).text();

    expect(page).toContain(text);
    expect(page).not.toContain('audit.csv');
  });

  it('is downloaded as a file that Excel opens and runs nothing of', async () => {
    const answer = await answerAt(`${PAGE}/audit.csv`);

    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
    const text = Buffer.from(await answer.arrayBuffer()).toString('utf8');
    expect(text.startsWith('\uFEFFsep=;\r\n')).toBe(true);
    const records = parse(text.slice(text.indexOf('\n') + 1), { delimiter: ';', columns: true });
    expect(records).toEqual([
      expect.objectContaining({
        at: '2026-05-01T12:00:00.000Z',
        who: 'ana',
        what: 'pause',
        accepted_duplicate_risk: 'no',
      }),
      expect.objectContaining({ who: '', why: "'=1+1 <b>", invoices: '1200', among_them: "'@F-1: unknown, abandon" }),
    ]);
  });

  it.each(['audit', 'audit.csv'])('%s of an unknown batch is 404', async (name) => {
    expect((await answerAt(`/batches/nobody/${name}`)).status).toBe(404);
  });
});
