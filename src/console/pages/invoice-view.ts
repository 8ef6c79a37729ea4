import { OUTCOMES } from '../../domain/invoice-state.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { WINDOW_SIZE } from './invoice-window.ts';
import { PROBLEM_STATES } from './state-counts.ts';
import type { StateCounts } from './state-counts.ts';

/** Which invoices of a batch a page shows. */
export interface InvoiceView {
  /** `problems`, `all` or one state. */
  readonly show: 'problems' | 'all' | Outcome;
  readonly states: ReadonlySet<Outcome>;
  readonly page: number;
  readonly pages: number;
}

/** Reads `?show=` and `?page=`; without them problems come first where there are any. */
export function invoiceView(
  counts: StateCounts,
  query: { readonly show: string | undefined; readonly page: string | undefined },
): InvoiceView {
  const show = shown(counts, query.show);
  const states = statesOf(show);
  const total = [...states].reduce((sum, state) => sum + counts[state], 0);
  const pages = Math.max(1, Math.ceil(total / WINDOW_SIZE));
  const asked = /^\d{1,7}$/u.test(query.page ?? '') ? Number(query.page) : 1;
  return { show, states: new Set(states), page: Math.min(Math.max(1, asked), pages), pages };
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
