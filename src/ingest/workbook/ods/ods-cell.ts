import type { NumberFormat } from '../number-format.ts';
import type { CellKind, SheetCell } from '../workbook.ts';

/** What LibreOffice shows for a formula that failed, beside the names that Excel has for it. */
const ERROR = /^(?:Err:\d+|#[A-Z/0!?]+)$/;

/** One ODS cell by its attributes and the text that it shows; null when it is empty. */
export function odsCell(
  attributes: Readonly<Record<string, string>>,
  shown: string,
  format: NumberFormat,
): SheetCell | null {
  const formula = attributes['table:formula'] !== undefined;
  const made = (kind: CellKind, text: string, of: NumberFormat | null = null): SheetCell => ({
    ...{ kind, text, formula },
    format: of,
  });
  if (attributes['calcext:value-type'] === 'error' || (formula && ERROR.test(shown))) return made('error', shown);
  // LibreOffice writes a truth value that came from XLSX as the number of a formula.
  if (formula && /^\p{L}+$/u.test(shown) && attributes['office:value-type'] === 'float') return made('boolean', shown);
  switch (attributes['office:value-type']) {
    case 'float':
      return made('number', attributes['office:value'] ?? '', format);
    case 'percentage':
      return made('number', attributes['office:value'] ?? '', { ...format, kind: 'percent' });
    case 'currency':
      return made('number', attributes['office:value'] ?? '', {
        ...format,
        addsText: true,
        currency: attributes['office:currency'] ?? null,
      });
    case 'date':
      return made('date', attributes['office:date-value'] ?? shown);
    case 'time':
      return made('date', attributes['office:time-value'] ?? shown);
    case 'boolean':
      return made('boolean', attributes['office:boolean-value'] === 'true' ? 'TRUE' : 'FALSE');
    case 'string': {
      const text = attributes['office:string-value'] ?? shown;
      return text === '' && !formula ? null : made('text', text, format);
    }
    default:
      if (formula) return made('missing', '');
      return shown === '' ? null : made('text', shown);
  }
}
