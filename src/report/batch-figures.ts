import { countsByOutcome } from '../domain/outcome-counts.ts';
import type { BatchFigures } from '../domain/ports/figures.ts';
import { currencyTotals } from './currency-totals.ts';
import type { ReportModel } from './report-model.ts';

const MOST_REASONS = 10;
/** Codes come from the service; figures are kept for years. */
const LONGEST_CODE = 80;

/**
 * What the report says in numbers, for pictures over many nights. An issued invoice that another batch owns is in the parts of what an earlier file
 * issued, so that sums over batches count its document once; `outcomes` alone is the balance of the batch.
 */
export function batchFigures(report: ReportModel): BatchFigures {
  const { contradicted, outcomes, ownOutcomes, reasons, ownSettling } = report;
  return {
    states: countsByOutcome(ownOutcomes),
    money: currencyTotals(ownOutcomes).map(({ currency, net, byState }) => ({
      ...{ currency, net },
      ...{ out: byState.issued ?? '0', before: byState['already-issued'] ?? '0' },
    })),
    settling: ownSettling,
    ...(contradicted.invoices > 0 && { contradicted: contradicted.invoices }),
    reasons: reasons
      .slice(0, MOST_REASONS)
      .map(({ state, code, invoices }) => ({ state, code: code.slice(0, LONGEST_CODE), invoices })),
    outcomes,
  };
}
