import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUTCOMES, wentOut } from '../../../src/domain/invoice-state.ts';
import { reasonOf } from '../../../src/report/state-reason.ts';
import { reportHistory } from '../../../src/report/report-history.ts';
import { DOER_OF, DOERS, STATE_ORDER } from '../../../src/report/doers.ts';
import { REPORT_TEXTS } from '../../../src/report/texts/report-format.ts';
import { toneOf } from '../../../src/report/formats/html/state-bar.ts';
import { isCorrectable } from '../../../src/report/corrections/corrections-plan.ts';
import { topLevelMembers } from '../../../src/report/formats/top-level-members.ts';
import { batchInvoice } from './batch-invoices.ts';
import { anyText } from '../../support/any-text.ts';

const REASON = { code: 'engine-failed', message: 'No.' };
const error = {
  row: 3,
  column: 'quantity',
  code: 'quantity-unreadable',
  message: 'No number',
  severity: 'error',
} as const;
const warning = { ...error, code: 'nif-checksum', severity: 'warning' } as const;

describe('reasonOf', () => {
  it.each(['issued', 'already-issued'] as const)('is none for %s, whatever was noted on the way', (state) => {
    expect(reasonOf(batchInvoice({ state, reason: REASON, findings: [error] }))).toBeNull();
  });

  it("is the ledger's own where there is one, before any finding", () => {
    expect(reasonOf(batchInvoice({ state: 'failed', reason: REASON, findings: [error] }))).toEqual(REASON);
  });

  it('is the first error of an invalid invoice, and never a warning', () => {
    expect(reasonOf(batchInvoice({ state: 'invalid', findings: [warning, error] }))).toEqual({
      code: 'quantity-unreadable',
      message: 'No number',
    });
    expect(() => reasonOf(batchInvoice({ state: 'invalid', findings: [warning] }))).toThrow(/must have a reason/u);
  });

  it.each(['staged', 'sending', 'accepted'] as const)('is a word of its own for one that is %s', (state) => {
    expect(reasonOf(batchInvoice({ state }))?.message).toMatch(/\.$/u);
  });

  it.each(OUTCOMES.filter((state) => !wentOut(state) && !['staged', 'sending', 'accepted'].includes(state)))(
    'must be there for %s: a state that nobody explains is an error',
    (state) => {
      expect(() => reasonOf(batchInvoice({ state, ordinal: 7 }))).toThrow(
        `found none for invoice 7 of the batch, state ${state}.`,
      );
    },
  );
});

describe('the words of the report', () => {
  it('have an order that holds every state once', () => {
    expect([...STATE_ORDER].toSorted()).toEqual([...OUTCOMES].toSorted());
  });

  it.each(OUTCOMES)('say of %s whose turn it is and what to do in each language, unless it went out', (state) => {
    expect(DOER_OF[state] === null).toBe(wentOut(state));
    if (DOER_OF[state] !== null) expect(DOERS).toContain(DOER_OF[state]);
    for (const { states } of Object.values(REPORT_TEXTS)) expect(states[state].next === null).toBe(wentOut(state));
  });

  it('never ask the back office to send again what may be alive at the service', () => {
    const alive = { accepted: 'lote', sending: 'lote', unknown: 'operator', unsettled: 'lote' } as const;
    for (const state of ['accepted', 'sending', 'unknown', 'unsettled'] as const) {
      expect(DOER_OF[state]).toBe(alive[state]);
      expect(isCorrectable({ state, reason: { code: 'merchant-details-missing', message: '' } })).toBe(false);
    }
    for (const state of ['unknown', 'unsettled'] as const) {
      expect(REPORT_TEXTS.en.states[state].next).toContain('Do not send these in another file');
      expect(REPORT_TEXTS.pt.states[state].next).toContain('Não as envie noutro ficheiro');
      expect(REPORT_TEXTS.es.states[state].next).toContain('No las envíe en otro archivo');
    }
  });

  it('colour only what went out as good, and a definite no as bad', () => {
    expect(OUTCOMES.filter((state) => toneOf(state) === 'good').toSorted()).toEqual(['already-issued', 'issued']);
    expect(OUTCOMES.filter((state) => toneOf(state) === 'bad').toSorted()).toEqual([
      'conflict',
      'failed',
      'invalid',
      'rejected',
    ]);
    expect(OUTCOMES.filter((state) => toneOf(state) === 'open').toSorted()).toEqual(['held', 'unknown', 'unsettled']);
  });
});

describe('reportHistory', () => {
  it('knows no changes in a first report, and since which report in a later one', () => {
    const changes = [{ from: 'unknown', to: 'issued', invoices: 1, examples: ['F-1'] }] as const;

    expect(
      reportHistory({ revision: 0, changes, flags: 0, mark: 0, isFlagged: false, contradicted: 0 }, []).changes,
    ).toBeNull();
    expect(
      reportHistory({ revision: 2, changes, flags: 0, mark: 0, isFlagged: false, contradicted: 0 }, []).changes,
    ).toEqual({
      sinceRevision: 2,
      byState: changes,
    });
  });

  it('tells who did what and why, in ISO times', () => {
    const action = {
      at: 0,
      who: null,
      what: 'retry',
      why: 'again',
      acceptedDuplicateRisk: true,
      invoices: 1,
      examples: [],
    };

    expect(
      reportHistory({ revision: 1, changes: [], flags: 0, mark: 0, isFlagged: false, contradicted: 0 }, [action]).audit,
    ).toEqual([{ ...action, at: '1970-01-01T00:00:00.000Z' }]);
  });
});

describe('topLevelMembers', () => {
  it('cuts any object into members that make the same object again', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText(), fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (object, space) => {
        const text = JSON.stringify(object, null, space);

        const members = topLevelMembers(` \n${text}\r\n`);

        expect(members.map(({ name }) => name)).toEqual(Object.keys(object));
        expect(JSON.parse(`{${members.map((member) => member.text).join(',')}}`)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('leaves every token as it was written: a long number is not rounded on its way back', () => {
    const text = '{"a" : 1.10000000000000000000001 , "b":[{"c":-0.0}], "d":"\\u00e9,}\\"" }';

    expect(topLevelMembers(text)).toEqual([
      { name: 'a', text: '"a" : 1.10000000000000000000001' },
      { name: 'b', text: '"b":[{"c":-0.0}]' },
      { name: 'd', text: '"d":"\\u00e9,}\\""' },
    ]);
  });
});
