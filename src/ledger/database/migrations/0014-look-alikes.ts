import { fillLookAlikes } from '../../staging/fill-look-alikes.ts';
import type { Queries } from '../database.ts';

type Step = string | ((queries: Queries) => Promise<void>);

/** Only a reference that is not its own skeleton has a key here; one that is, is found by its identity. So the index stays small. */
export const LOOK_ALIKES: readonly Step[] = [
  'ALTER TABLE invoice ADD COLUMN look_alike text',
  'CREATE INDEX invoice_look_alike ON invoice (look_alike) WHERE look_alike IS NOT NULL',
  (queries) => fillLookAlikes(queries, '^[!-~]+( [!-~]+)*$', '!~'),
];
