import type { Outcome, TransitionName } from '../../domain/invoice-state.ts';
import { TRANSITIONS } from '../../domain/invoice-state.ts';

/** `('staged','held')`: states for an SQL `IN`. */
export function stateList(states: readonly Outcome[]): string {
  return `(${states.map((state) => `'${state}'`).join(', ')})`;
}

/** The `from` of a transition, for the WHERE clause that enforces it: the domain's table decides, SQL only repeats it. */
export function fromStates(name: TransitionName): string {
  return stateList(TRANSITIONS[name].from);
}

/** A batch in one of these states sends nothing any more: its unsent invoices may go to another batch. */
export const CLOSED_BATCH_STATES = `('finished', 'cancelled', 'refused')`;
