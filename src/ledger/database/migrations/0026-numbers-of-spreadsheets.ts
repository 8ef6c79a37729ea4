import { fillLookAlikes } from '../../staging/fill-look-alikes.ts';
import type { Queries } from '../database.ts';

/** `1E5` and `100000` look alike from now on, and digits of any script; so do the invoices that are there. */
export const NUMBERS_OF_SPREADSHEETS: readonly ((queries: Queries) => Promise<void>)[] = [
  (queries) => fillLookAlikes(queries, '^[0-9]+[Ee][0-9]{1,2}$|[^ -~]'),
];
