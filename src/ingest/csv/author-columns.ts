import { ALL_OWN_HEADERS } from '../profile/map-header.ts';
import { widthOf } from './row-width.ts';

/** Positions of the columns that are not Lote's. `own`: it is the header of a corrections file; in any other each column is its author's. */
export function authorColumns(header: readonly string[], own: boolean): readonly number[] {
  return header
    .slice(0, widthOf(header))
    .flatMap((cell, at) => (own && ALL_OWN_HEADERS.includes(cell.trim()) ? [] : [at]));
}
