import type { MappedColumn, MappingLook } from '../../console/mapping/file-mapper.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import { likelyColumn, type TableHead } from './table-head.ts';

/** A number of a party or an article instead of its name: `1023`, `C-00123`. */
const CODE = /^[\p{Lu}]{0,4}[-_./ ]?\d[\d./_-]*$/u;
const NAMES: readonly Column[] = ['merchant_legal_name', 'customer_name', 'description'];
const FEWEST = 2;

/** What in the first rows of a file deserves a look before its mapping is confirmed. They decide nothing. */
export function mappingLooks({ below, format }: TableHead, columns: readonly MappedColumn[]): readonly MappingLook[] {
  const valuesOf = (at: number): readonly string[] => below.map((cells) => (cells[at] ?? '').trim());
  const placeOf = (column: Column): number => columns.findIndex(({ meaning }) => meaning === column);
  const headerOf = (column: Column): string => columns[placeOf(column)]?.header ?? '';
  const isPart = ({ meaning }: MappedColumn): boolean => meaning === 'invoice_ref' || meaning === 'reference-part';
  const parts = columns.flatMap((column, at) => (isPart(column) ? [valuesOf(at)] : []));
  const references = (parts[0] ?? []).map((_, row) => parts.map((part) => part[row] ?? '').join('\n'));
  const reference = columns.find(isPart)?.header ?? '';
  const looks: MappingLook[] = [];
  if (references.length >= FEWEST && new Set(references).size === 1 && format !== 'json')
    looks.push({ code: 'same-reference', header: reference, other: references[0] ?? '' });
  columns.forEach(({ header, meaning }, at) => {
    if (meaning === 'none' && header !== '' && differsWithin(references, valuesOf(at)))
      looks.push({ code: 'differs', header, other: reference });
  });
  for (const column of NAMES) {
    const values = valuesOf(placeOf(column)).filter((value) => value !== '');
    if (values.length > 0 && values.every((value) => CODE.test(value)))
      looks.push({ code: 'digits', header: headerOf(column), other: values[0] ?? '' });
  }
  // One company sells to many: a merchant that differs with each customer may be the customer.
  const customers = new Set(valuesOf(placeOf('customer_name'))).size;
  for (const column of ['merchant_nif', 'merchant_legal_name'] as const) {
    const merchants = new Set(valuesOf(placeOf(column))).size;
    if (merchants >= FEWEST && merchants >= customers)
      looks.push({ code: 'merchants', header: headerOf(column), other: headerOf('customer_name') });
  }
  return [...looks, ...candidates(columns)];
}

function differsWithin(references: readonly string[], values: readonly string[]): boolean {
  const first = new Map<string, string>();
  return references.some((reference, row) => {
    const value = values[row] ?? '';
    const earlier = first.get(reference);
    if (earlier === undefined) first.set(reference, value);
    return earlier !== undefined && earlier !== value;
  });
}

/** Columns that are not used, and whose header may mean what another column was taken for, or what still has none. */
function candidates(columns: readonly MappedColumn[]): readonly MappingLook[] {
  return columns.flatMap(({ header, meaning }) => {
    if (meaning !== 'none' || header === '') return [];
    const column = candidateFor(header);
    const taken = columns.find((one) => one.meaning === column);
    return column === undefined ? [] : [{ code: 'candidates' as const, header, other: taken?.header ?? column }];
  });
}

/** `Selling Price` may be the price although Lote knows no such header. */
function candidateFor(header: string): Column | undefined {
  const words = header.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word.length > FEWEST);
  return likelyColumn(header) ?? COLUMNS.find((column) => words.some((word) => likelyColumn(word) === column));
}
