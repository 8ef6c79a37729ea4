import { LoteError } from '../../domain/errors.ts';
import { OPEN_STATES } from '../../domain/invoice-state.ts';
import type { Reason } from '../../domain/invoice.ts';
import { isUnsent } from '../../domain/machine/invoice-life.ts';
import type { BatchRecord, ClaimingRun, FencingToken } from '../../domain/records/batch-record.ts';
import { changeInvoices, changeUnderToken } from '../change-invoices.ts';
import type { Database } from '../../database/database.ts';
import { CLOSED_BATCH_STATES, invoicesOfBatch, sqlList } from '../sql.ts';
import { BATCH_COLUMNS, foundBatch, lockBatch } from './batch.ts';

/** Parameter: batchId. Held invoices of the batch, and unsent ones that another batch owns. */
const RELEASABLE = invoicesOfBatch(`(i.state = 'held' OR (i.state = 'staged' AND i.owner_batch <> $1))`);

const UNKNOWN = invoicesOfBatch(`i.state = 'unknown'`);

/** Parameter: batchId. The open invoices that the batch owns; other batches close their own. */
const OWN_OPEN = invoicesOfBatch(`i.owner_batch = $1 AND i.state IN ${sqlList(OPEN_STATES)}`);

/** Parameter: batchId. Includes invoices that another running batch is about to send: the report of this batch must say how they end. */
const OPEN_PAGES = `/* open-pages */
SELECT DISTINCT (i.ordinal - 1) / b.page_size + 1 AS page
FROM live_line i
JOIN batch b ON b.batch_id = i.batch_id
JOIN batch owner ON owner.batch_id = i.owner_batch
WHERE i.batch_id = $1 AND b.page_size > 0
  AND (i.state = 'accepted' OR (i.state IN ('staged', 'sending') AND (i.owner_batch = $1 OR owner.state NOT IN ${CLOSED_BATCH_STATES})))
ORDER BY page`;

/** Parameters: batchId, state, now. A cancelled batch stays cancelled when it finishes; only a claim reopens a closed batch. */
const SET_BATCH_STATE = `/* set-batch-state */
UPDATE batch SET
  state = CASE WHEN state = 'cancelled' THEN state ELSE $2 END,
  finished_at = CASE WHEN $2 IN ('cancelled', 'finished') THEN $3::bigint END
WHERE batch_id = $1
  AND (state IN ('running', 'paused') OR (state = 'cancelled' AND $2 = 'finished'))`;

const batchesWhere = (name: string, which: string): string =>
  `/* ${name} */ SELECT ${BATCH_COLUMNS} FROM batch ${which}`;

const FIND_BATCH = batchesWhere('find-batch', 'WHERE batch_id = $1');
const BATCH_OF_FILE = batchesWhere('batch-of-file', 'WHERE application = $1 AND sha256 = $2');
const LIST_BATCHES = batchesWhere('list-batches', 'ORDER BY started_at DESC, seq DESC LIMIT $1');
const OPEN_BATCHES = batchesWhere(
  'open-batches',
  `WHERE application = $1 AND state NOT IN ${CLOSED_BATCH_STATES} ORDER BY seq`,
);
const BATCHES_CLOSED_BY = batchesWhere(
  'batches-closed-by',
  `WHERE application = $1 AND workflow_id = $2 AND run_id = $3 AND state IN ${CLOSED_BATCH_STATES} ORDER BY seq`,
);

const NEXT_REVISION = `/* next-revision */
UPDATE batch SET revision = revision + 1 WHERE batch_id = $1 RETURNING revision`;

/** Finds batches, changes their state and releases their invoices. */
export function createBatches(database: Database) {
  return {
    findBatch: async (batchId: string): Promise<BatchRecord | null> =>
      (await database.query<BatchRecord>(FIND_BATCH, [batchId]))[0] ?? null,

    /** Finds the batch of a file with these bytes, whatever the file's name. */
    batchOfFile: async (application: string, sha256: string): Promise<BatchRecord | null> =>
      (await database.query<BatchRecord>(BATCH_OF_FILE, [application, sha256]))[0] ?? null,

    listBatches: (limit: number) => database.query<BatchRecord>(LIST_BATCHES, [limit]),

    /** Lists batches in `staging`, `running` or `paused`, oldest first. */
    openBatches: (application: string) => database.query<BatchRecord>(OPEN_BATCHES, [application]),

    /** Returns the ids, oldest first, of closed batches whose claim this run still holds: the run closed them and no later run reopened them. */
    async batchesClosedBy(run: ClaimingRun & { readonly application: string }): Promise<readonly string[]> {
      const { application, workflowId, runId } = run;
      const rows = await database.query<BatchRecord>(BATCHES_CLOSED_BY, [application, workflowId, runId]);
      return rows.map(({ batchId }) => batchId);
    },

    async setBatchState(
      batchId: string,
      state: 'running' | 'paused' | 'cancelled' | 'finished',
      now: number,
      fencingToken?: FencingToken,
    ): Promise<void> {
      await database.transaction(async (queries) => {
        const batch = await lockBatch(queries, { batchId, fencingToken });
        if (state === 'finished' || state === 'cancelled') requireRead(batch);
        await queries.query(SET_BATCH_STATE, [batchId, state, now]);
      });
    },

    /**
     * Ends a batch, and leaves none of its invoices open: unsent ones become `held`, others `unknown` or `unsettled`. Returns the number of the others.
     * As soon as a batch is closed, reconciliation may repeat them, so a closed batch leaves them as they are.
     */
    endBatch: (batchId: string, end: EndBatch): Promise<number> => endBatch(database, batchId, end),

    /** Moves `held` invoices that may be sent again to `staged`; `unknown` and `unsettled` stay for reconciliation. Returns the number moved. */
    releaseHeld(batchId: string, now: number, fencingToken?: FencingToken): Promise<number> {
      const selection = { name: 'release-held', ids: RELEASABLE, params: [batchId] };
      return changeUnderToken(database, { batchId, fencingToken }, selection, () => ({
        kind: 'release',
        batchId,
        now,
      }));
    },

    /** Moves `unknown` invoices on pages of this batch to `sending`: same key and bytes, frozen after `frozenAfter`. Returns the number moved. */
    repeatUnknown(batchId: string, frozenAfter: number, fencingToken?: FencingToken): Promise<number> {
      const selection = { name: 'repeat-unknown', ids: UNKNOWN, params: [batchId] };
      const command = { kind: 'repeat', batchId, frozenAfter } as const;
      return changeUnderToken(database, { batchId, fencingToken }, selection, () => command);
    },

    /** Returns, in ascending order, the pages with an `accepted` invoice or with a `staged`/`sending` one whose owner is not closed. */
    async openPages(batchId: string): Promise<readonly number[]> {
      return (await database.query<{ page: number }>(OPEN_PAGES, [batchId])).map((row) => row.page);
    },

    async nextRevision(batchId: string): Promise<number> {
      const [row] = await database.query<{ revision: number }>(NEXT_REVISION, [batchId]);
      return row?.revision ?? foundBatch(batchId, undefined).revision;
    },
  };
}

interface EndBatch {
  readonly state: 'cancelled' | 'finished';
  readonly unsent: Reason;
  /** The reason of invoices that were sent, unless they have one. */
  readonly left: Reason;
  readonly now: number;
  readonly fencingToken: FencingToken;
}

function endBatch(
  database: Database,
  batchId: string,
  { state, unsent, left, now, fencingToken }: EndBatch,
): Promise<number> {
  return database.transaction(async (queries) => {
    const batch = await lockBatch(queries, { batchId, fencingToken });
    requireRead(batch);
    const isOpen = batch.state === 'running' || batch.state === 'paused';
    const hold = { kind: 'hold', batchId, reason: unsent, unanswered: null, andHeld: false, now } as const;
    const close = { kind: 'close', batchId, reason: left, unsent, now } as const;
    const selection = { name: 'end-batch', ids: OWN_OPEN, params: [batchId] };
    const ended = await changeInvoices(queries, selection, (invoice) =>
      isUnsent(invoice) ? hold : isOpen ? close : null,
    );
    await queries.query(SET_BATCH_STATE, [batchId, state, now]);
    return ended.filter(({ before }) => !isUnsent(before)).length;
  });
}

/** A run reads its file before it ends the batch. If the ledger still says `staging`, the ledger is older than the run. */
function requireRead({ batchId, state }: BatchRecord): void {
  if (state !== 'staging') return;
  throw new LoteError(
    'ledger-conflict',
    `Ending batch "${batchId}": the ledger must know its file, but has it as still being read: it was restored from an older copy, or has lost its last transactions. ` +
      'This run ends. Reconciliation closes its batch; then drop the file again (docs/deployment.md#restore-the-ledger)',
  );
}
