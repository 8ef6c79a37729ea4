import { OUTCOMES } from '../domain/invoice-state.ts';
import type { BatchFigures } from '../domain/ports/figures.ts';
import type { ReportModel } from './report-model.ts';

const MOST_REASONS = 10;
/** Codes come from the service; figures are kept for years. */
const LONGEST_CODE = 80;

/** What the report says in numbers, for pictures over many nights. */
export function batchFigures({ counts, contradicted, outcomes, totals, reasons, settling }: ReportModel): BatchFigures {
  return {
    states: Object.fromEntries(OUTCOMES.flatMap((state) => (counts[state] > 0 ? [[state, counts[state]]] : []))),
    money: totals.map(({ currency, net, byState }) => ({
      ...{ currency, net },
      ...{ out: byState.issued ?? '0', before: byState['already-issued'] ?? '0' },
    })),
    settling,
    ...(contradicted.invoices > 0 && { contradicted: contradicted.invoices }),
    reasons: reasons
      .slice(0, MOST_REASONS)
      .map(({ state, code, invoices }) => ({ state, code: code.slice(0, LONGEST_CODE), invoices })),
    outcomes,
  };
}
