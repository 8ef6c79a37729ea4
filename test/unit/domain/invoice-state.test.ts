import { describe, expect, it } from 'vitest';
import type { InvoiceState, TransitionName } from '../../../src/domain/invoice-state.ts';
import {
  canMove,
  INVOICE_STATES,
  isProblem,
  OPEN_STATES,
  OUTCOMES,
  REOPENING_STATES,
  TRANSITIONS,
  wentOut,
} from '../../../src/domain/invoice-state.ts';

const NAMES = Object.keys(TRANSITIONS) as readonly TransitionName[];

/** Every state that can be reached from one, by the moves that are allowed. */
function reachable(from: InvoiceState, moves: readonly TransitionName[]): ReadonlySet<InvoiceState> {
  const seen = new Set<InvoiceState>([from]);
  for (const state of seen) for (const name of moves) if (canMove(name, state)) seen.add(TRANSITIONS[name].to);
  return seen;
}

/** Moves by which an invoice gets another key. */
const NEW_KEY: readonly TransitionName[] = ['regenerate', 'replace', 'abandon'];

/** Moves by which a POST may leave for the service. */
const SENDS: readonly TransitionName[] = ['freeze', 'repeat'];

describe('the transition table', () => {
  it('lets nothing leave issued', () => {
    expect(NAMES.filter((name) => canMove(name, 'issued'))).toEqual([]);
  });

  it('never lets an invoice that the service accepted be sent again without a definitive no', () => {
    const withoutNo = NAMES.filter((name) => !NEW_KEY.includes(name));

    for (const state of ['accepted', 'unsettled'] as const) {
      const later = reachable(state, withoutNo);
      expect(later.has('staged'), state).toBe(false);
      expect(later.has('sending'), state).toBe(false);
    }
  });

  it('gives a new key only to what was never sent, after failed, rejected, or an operator who gave an unknown one up', () => {
    expect(INVOICE_STATES.filter((state) => NEW_KEY.some((name) => canMove(name, state))).toSorted()).toEqual([
      'failed',
      'held',
      'rejected',
      'staged',
      'unknown',
    ]);
    expect(canMove('regenerate', 'unknown')).toBe(false);
    expect(canMove('abandon', 'failed')).toBe(false);
  });

  it('says failed only of what the service accepted, and rejected only of what was being sent', () => {
    expect(INVOICE_STATES.filter((state) => canMove('fail', state))).toEqual(['accepted', 'unsettled']);
    expect(INVOICE_STATES.filter((state) => canMove('refuse', state))).toEqual(['sending']);
  });

  it('lets issued win over failed and over silence', () => {
    expect(INVOICE_STATES.filter((state) => canMove('issue', state))).toEqual(['accepted', 'failed', 'unsettled']);
  });

  it('holds only what may be proved not to have reached the service', () => {
    expect(INVOICE_STATES.filter((state) => canMove('hold', state))).toEqual(['staged', 'sending']);
    expect(INVOICE_STATES.filter((state) => canMove('release', state))).toEqual(['held']);
  });

  it('reaches every state from staged, and a final word from every state', () => {
    expect([...reachable('staged', NAMES)].toSorted()).toEqual([...INVOICE_STATES].toSorted());
    for (const state of INVOICE_STATES) expect(reachable(state, NAMES).has('issued'), state).toBe(true);
  });

  it('lets no POST leave from any state but staged and unknown', () => {
    expect(INVOICE_STATES.filter((state) => SENDS.some((name) => canMove(name, state))).toSorted()).toEqual([
      'staged',
      'unknown',
    ]);
  });
});

describe('the lists of states', () => {
  it('open a closed batch again for everything that may still move by itself or by the next run', () => {
    const final: readonly InvoiceState[] = ['issued', 'failed', 'rejected'];

    expect([...REOPENING_STATES].toSorted()).toEqual(
      INVOICE_STATES.filter((state) => !final.includes(state)).toSorted(),
    );
    for (const state of OPEN_STATES) expect(REOPENING_STATES).toContain(state);
  });

  it('name each outcome once', () => {
    expect(new Set(OUTCOMES).size).toBe(OUTCOMES.length);
    expect(OUTCOMES).toHaveLength(INVOICE_STATES.length + 3);
  });
});

describe('what an outcome means for a person', () => {
  it('is one of three: it went out, Lote is at it, or somebody has to look', () => {
    expect(OUTCOMES.filter((outcome) => wentOut(outcome))).toEqual(['issued', 'already-issued']);
    expect(OUTCOMES.filter((outcome) => isProblem(outcome))).toEqual([
      'failed',
      'rejected',
      'unknown',
      'unsettled',
      'held',
      'invalid',
      'conflict',
    ]);
    expect(OUTCOMES.filter((outcome) => !wentOut(outcome) && !isProblem(outcome))).toEqual(OPEN_STATES);
  });
});
