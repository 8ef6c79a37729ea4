import { fillLookAlikes } from '../../staging/fill-look-alikes.ts';
import type { Queries } from '../database.ts';

/** `00012` and `12` look alike from now on, and so do the invoices that are there. */
export const LEADING_ZEROS: readonly ((queries: Queries) => Promise<void>)[] = [
  (queries) => fillLookAlikes(queries, '^0+[0-9]+$'),
];
