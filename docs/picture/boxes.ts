import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { createActivities } from '../../activities/index.ts';

type ActivityName = keyof ReturnType<typeof createActivities>;

/** One hop of an invoice: the folder that does it, in which activities, and what it does. */
export interface Hop {
  /** Of the checkout; a folder that is not there stops the picture. */
  readonly folder: string;
  readonly activities: readonly ActivityName[];
  readonly does: readonly string[];
  /** What passes between this hop and the service. */
  readonly service?: { readonly says: string; readonly direction: 'to' | 'from' };
}

/** In the order in which `workflows/invoice-batch.ts` takes them. */
export const HOPS: readonly Hop[] = [
  {
    folder: 'src/ingest',
    activities: ['ingestBatch'],
    does: ['bytes, encoding, dialect, rows, invoices;', 'every finding located by row and column'],
  },
  {
    folder: 'src/ledger',
    activities: [],
    does: ['the truth: batches, invoices, keys, frozen bytes', '(PGlite, or PostgreSQL with DATABASE_URL)'],
  },
  {
    folder: 'src/service',
    activities: ['ensureMerchants', 'submitSlice', 'reviewPage'],
    does: ['merchants ensured; each invoice POSTed with', 'frozen bytes; GET of pending invoices'],
    service: { says: 'POST with Idempotency-Key, GET', direction: 'to' },
  },
  {
    folder: 'src/webhooks',
    activities: [],
    does: ['signature over the raw bytes, ledger, 2xx,', 'one coalesced signal per page'],
    service: { says: 'invoice.issued, invoice.failed', direction: 'from' },
  },
  {
    folder: 'src/report',
    activities: ['writeReport'],
    does: ['balanced, or not written at all: report.html,', 'report.csv, report.json, corrections'],
  },
];

/** @throws Error naming a folder that the picture shows and the checkout does not have. */
export function requireFolders(): void {
  for (const { folder } of HOPS) {
    if (!existsSync(fileURLToPath(new URL(`../../${folder}/`, import.meta.url))))
      throw new Error(`Drawing the data flow: ${folder} must be a folder of the checkout, found none.`);
  }
}
