import type { Contradicted } from '../../../domain/ports/ledger/batch-record.ts';
import { fill } from '../../../texts/fill.ts';
import type { ReportFormat } from '../../texts/report-format.ts';

/** `F-1; F-2 and 5 more`: the invoices in doubt that are named, and how many more there are. */
export function contradictedRefs({ invoices, refs }: Contradicted, { texts, count }: ReportFormat): string {
  const names = refs.join('; ');
  if (invoices === refs.length) return names;
  return fill(texts.rowList.more, { rows: names, n: count(invoices - refs.length) });
}
