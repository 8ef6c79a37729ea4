import { ORIGINAL_FORMAT } from '../../domain/read-as.ts';
import { parseNumberFormat } from './number-format.ts';
import type { SheetCell } from './workbook.ts';

/** What the format says; ODS describes it in other words than XLSX. */
const WRITTEN = parseNumberFormat(ORIGINAL_FORMAT);

/** True for a cell of `lote_original` that Lote wrote into a workbook, and that was saved as no text since: it has the format that it got then. */
export function wasNeverText(cell: SheetCell | undefined): boolean {
  const format = cell?.format ?? null;
  return (
    format !== null &&
    format.kind === WRITTEN.kind &&
    format.decimals === WRITTEN.decimals &&
    format.leastDigits === WRITTEN.leastDigits &&
    !format.addsText
  );
}
