import { isEveryRowIssued } from '../../contract/whole-file.ts';
import type { BatchResult } from '../../contract/messages.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/**
 * 0 only when every data row is accounted for in an issued invoice, and the file has the control totals that were declared; a totals row is no data. An
 * invoice in doubt is an issued one: what is printed, and the report, say the doubt.
 */
export function batchExitCode(result: Pick<BatchResult, 'state' | 'counts' | 'totalsDiffer'>): ExitCode {
  if (result.state === 'refused') return EXIT.refused;
  return isEveryRowIssued(result) && result.state === 'finished' ? EXIT.ok : EXIT.someNotIssued;
}
