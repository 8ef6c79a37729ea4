import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUTCOMES, wentOut } from '../../../src/domain/invoice-state.ts';
import { reasonOf } from '../../../src/report/report-model.ts';
import { DOER_OF, DOERS } from '../../../src/report/formats/html/first-screen.ts';
import { REPORT_TEXTS } from '../../../src/report/texts/report-format.ts';
import { STATE_ORDER, toneOf } from '../../../src/texts/outcomes/outcome-html.ts';
import { isCorrectable } from '../../../src/report/corrections/corrections-plan.ts';
import { topLevelMembers } from '../../../src/report/corrections/write-corrections.ts';
import { batchInvoice, finding } from './batch-invoices.ts';
import { anyText } from '../../support/any-text.ts';

const REASON = { code: 'engine-failed', message: 'No.' };
const error = finding(3, 'quantity', 'quantity-unreadable', 'No number');
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
    'must be there for %s: a state without a reason is an error',
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
    for (const { next } of Object.values(REPORT_TEXTS)) expect(next[state] === undefined).toBe(wentOut(state));
  });

  it('never ask the back office to send again what may be alive at the service', () => {
    const alive = { accepted: 'lote', sending: 'lote', unknown: 'operator', unsettled: 'lote' } as const;
    for (const state of ['accepted', 'sending', 'unknown', 'unsettled'] as const) {
      expect(DOER_OF[state]).toBe(alive[state]);
      expect(isCorrectable({ state, reason: { code: 'merchant-details-missing', message: '' } })).toBe(false);
    }
    for (const state of ['unknown', 'unsettled'] as const) {
      expect(REPORT_TEXTS.en.next[state]).toContain('Do not send these in another file');
      expect(REPORT_TEXTS.pt.next[state]).toContain('Não as envie noutro ficheiro');
      expect(REPORT_TEXTS.es.next[state]).toContain('No las envíe en otro archivo');
    }
  });

  it('colour only what went out as good, and a definite no as bad', () => {
    expect(OUTCOMES.filter((state) => toneOf(state) === 'good').toSorted()).toEqual(['already-issued', 'issued']);
    const bad = OUTCOMES.filter((state) => toneOf(state) === 'bad');
    expect(bad.toSorted()).toEqual(['conflict', 'failed', 'invalid', 'rejected']);
    expect(OUTCOMES.filter((state) => toneOf(state) === 'open').toSorted()).toEqual(['held', 'unknown', 'unsettled']);
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
