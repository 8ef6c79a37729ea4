import { lostRowsOf } from '../../contract/lost-rows.ts';
import type { BatchResult } from '../../contract/messages.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** 0 only when every data row is accounted for in an issued invoice; a totals row is no data. */
export function batchExitCode({ state, counts }: Pick<BatchResult, 'state' | 'counts'>): ExitCode {
  if (state === 'refused') return EXIT.refused;
  const issued = (counts.issued ?? 0) + (counts['already-issued'] ?? 0);
  const everything = issued === (counts.invoices ?? 0) && lostRowsOf(counts) === 0;
  return everything && state === 'finished' ? EXIT.ok : EXIT.someNotIssued;
}
