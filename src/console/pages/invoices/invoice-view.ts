import { OUTCOMES } from '../../../domain/invoice-state.ts';
import type { Outcome } from '../../../domain/invoice-state.ts';
import { type ListPart, listPart } from '../list-part.ts';
import { WINDOW_SIZE } from './invoice-window.ts';
import { PROBLEM_STATES } from '../state-counts.ts';
import type { StateCounts } from '../state-counts.ts';

/** Which invoices of a batch a page shows. */
export interface InvoiceView extends ListPart {
  /** `problems`, `all` or one state. */
  readonly show: 'problems' | 'all' | Outcome;
  readonly states: ReadonlySet<Outcome>;
}

/** Reads `?show=` and `?page=`; without them problems come first where there are any. */
export function invoiceView(
  counts: StateCounts,
  query: { readonly show: string | undefined; readonly page: string | undefined },
): InvoiceView {
  const show = shown(counts, query.show);
  const states = statesOf(show);
  const total = [...states].reduce((sum, state) => sum + counts[state], 0);
  return { show, states: new Set(states), ...listPart(total, WINDOW_SIZE, query.page) };
}

function shown(counts: StateCounts, asked: string | undefined): InvoiceView['show'] {
  if (asked === 'problems' || asked === 'all') return asked;
  const state = OUTCOMES.find((known) => known === asked);
  if (state !== undefined) return state;
  return PROBLEM_STATES.some((problem) => counts[problem] > 0) ? 'problems' : 'all';
}

function statesOf(show: InvoiceView['show']): readonly Outcome[] {
  if (show === 'all') return OUTCOMES;
  return show === 'problems' ? PROBLEM_STATES : [show];
}
