import { LoteError } from '../../domain/errors.ts';
import { REOPENING_STATES } from '../../domain/invoice-state.ts';
import type { BatchRecord, BatchState, ClaimingRun, StartOrder } from '../../domain/records/batch-record.ts';
import { type Database, onlyRow, type Queries } from '../../database/database.ts';
import { sqlList } from '../sql.ts';
import { BATCH_COLUMNS, claimLost, foundBatch, lockBatch, roundLost } from './batch.ts';
import { IS_DIFFERENCE } from './findings.ts';

/** A run that asks for a batch. */
interface AskingRun extends ClaimingRun {
  readonly batchId: string;
  /** The attempt of the step that asks, from 1. An earlier attempt cannot take the claim from a later one of its run. */
  readonly attempt: number;
  /** True when the caller knows that the run with the claim is closed. The asking run then takes the claim over. */
  readonly takeOver: boolean;
}

/** One attempt of a run to claim the batch of a file. `sha256` is the hex digest of the file's bytes. */
export interface ClaimBatch extends AskingRun {
  readonly application: string;
  readonly file: string;
  readonly sha256: string;
  readonly now: number;
  /** With `takeOver`: the run that the caller found closed. If another run holds the claim by now, the takeover fails. */
  readonly closedRun?: ClaimingRun;
  readonly order: StartOrder;
}

/**
 * Result of the attempt:
 *   claimed: new, or begun by a run that died before it had staged everything; ingest from the start
 *   resumed: staged before; run the pages with open invoices
 *   stopped: an operator stopped the batch, its run has ended, and no person orders it; the caller has the claim to close it, and sends nothing
 *   owned: another run holds it; ask Temporal whether that run is open, then attach to it, or claim with `takeOver`
 *   closed: everything is final, or the file was refused; the report stands
 */
export interface ClaimResult {
  readonly kind: 'claimed' | 'resumed' | 'stopped' | 'owned' | 'closed';
  readonly batch: BatchRecord;
}

/** Claims a closed batch for a run that retries invoices of it. */
export interface ReopenBatch extends AskingRun {
  /** True when the retry is for the whole batch and ends the stop. If false, Lote sends only the selected invoices and the batch stays stopped. */
  readonly endsStop: boolean;
}

/** Says whether the run holds the batch now, and if not, why. */
export type ReopenResult =
  | { readonly kind: 'reopened'; readonly batch: BatchRecord }
  /** Another run holds the batch: send the retry to that run as an update. */
  | { readonly kind: 'owned'; readonly workflowId: string; readonly runId: string }
  /** The file was refused, or Lote is still reading it: it has no invoices to retry. */
  | { readonly kind: 'nothing' };

/** Input of `beginRound`, which begins a round of a batch's pages. */
export interface BeginRound {
  readonly batchId: string;
  /** The attempt of the step that asks, from 1. */
  readonly attempt: number;
  /** The fencing token of the previous round. */
  readonly fencingToken: number;
}

/** Parameter: batchId. Says whether to reopen a closed batch. Control totals that differ are a reason: the report must say what the next start declares. */
const HAS_SOMETHING_OPEN = `/* has-something-open */
SELECT EXISTS (SELECT FROM live_line i WHERE i.batch_id = $1 AND i.state IN ${sqlList(REOPENING_STATES)})
  OR EXISTS (SELECT FROM finding f WHERE f.batch_id = $1 AND ${IS_DIFFERENCE}) AS found`;

/** Parameters: batchId, application, file, sha256, workflowId, runId, now, attempt. No row if the file or the batch's id is known. */
const INSERT_BATCH = `/* insert-batch */
INSERT INTO batch (batch_id, application, file, sha256, state, workflow_id, run_id, started_at, fencing_token, raised_attempt)
VALUES ($1, $2, $3, $4, 'staging', $5, $6, $7, 1, $8)
ON CONFLICT DO NOTHING
RETURNING ${BATCH_COLUMNS}`;

/** Parameters: application, sha256. The lock admits one claim of a file at a time. */
const LOCK_BATCH_OF_FILE = `/* lock-batch-of-file */
SELECT ${BATCH_COLUMNS} FROM batch WHERE application = $1 AND sha256 = $2 FOR UPDATE`;

/** Parameter: batchId. Returns the attempt that raised the token, and whether it did so with a claim. */
const LAST_RAISED = `/* last-raised */
SELECT raised_from IS NULL AS by_claim, raised_attempt FROM batch WHERE batch_id = $1`;

/**
 * Parameters: batchId, workflowId, runId, state, attempt, whether the stop ends, whether the same work goes on. The earlier holder can no longer
 * write. An operator's orders to another run end unless the same work goes on.
 */
const HOLD_CLAIM = `/* hold-claim */
UPDATE batch SET workflow_id = $2, run_id = $3, state = $4, finished_at = CASE WHEN state = $4 THEN finished_at END,
  fencing_token = fencing_token + 1, raised_from = NULL, raised_attempt = $5,
  stopped = CASE WHEN $6::text::boolean THEN NULL ELSE stopped END,
  sending_stop = CASE WHEN $7::text::boolean OR (workflow_id = $2 AND run_id = $3) THEN sending_stop END,
  control_version = CASE WHEN workflow_id = $2 AND run_id = $3 THEN control_version ELSE 0 END
WHERE batch_id = $1
RETURNING ${BATCH_COLUMNS}`;

/**
 * Parameters: batchId, fencing token of the previous round, attempt. Returns no row when another run has claimed the
 * batch, or a later round or attempt has begun.
 */
const BEGIN_ROUND = `/* begin-round */
UPDATE batch SET fencing_token = fencing_token + 1, raised_from = $2, raised_attempt = $3
WHERE batch_id = $1 AND (fencing_token = $2 OR (raised_from = $2 AND raised_attempt < $3))
RETURNING ${BATCH_COLUMNS}`;

/** Decides which run may work on a batch. */
export function createClaiming(database: Database) {
  return {
    /**
     * Claims the batch of an application and a file's bytes. Exactly one (workflowId, runId) holds it; a later attempt of the same pair keeps it. Each
     * successful claim raises the fencing token. Only a person's order runs a stopped batch; another order finds it closed, or gets the claim to close it
     * (`stopped`). docs/architecture.md#who-may-work-on-a-file has the table of states and results.
     * @throws LoteError `claim-lost` for an attempt of the holder that is not its latest
     */
    claimBatch(claim: ClaimBatch): Promise<ClaimResult> {
      return database.transaction(async (queries) => {
        const { batchId, application, file, sha256, workflowId, runId, now, attempt } = claim;
        const made = [batchId, application, file, sha256, workflowId, runId, now, attempt];
        const [inserted] = await queries.query<BatchRecord>(INSERT_BATCH, made);
        if (inserted !== undefined) return { kind: 'claimed', batch: inserted };
        const [known] = await queries.query<BatchRecord>(LOCK_BATCH_OF_FILE, [application, sha256]);
        if (known === undefined) throw idTaken(claim);
        return claimKnown(queries, claim, known);
      });
    },

    /** Reopens a finished or cancelled batch, even if it has no open invoices. @throws LoteError `batch-not-found`, `claim-lost` */
    reopenBatch(reopen: ReopenBatch): Promise<ReopenResult> {
      return database.transaction(async (queries) => {
        const batch = await lockBatch(queries, { batchId: reopen.batchId });
        if (batch.state === 'staging' || batch.state === 'refused') return { kind: 'nothing' };
        const isOpen = batch.state === 'running' || batch.state === 'paused';
        const isMine = isHolder(reopen, batch);
        if (isOpen && !isMine && !reopen.takeOver)
          return { kind: 'owned', workflowId: batch.workflowId, runId: batch.runId };
        await requireLatestAttempt(queries, reopen, batch);
        const state = isOpen && isMine ? batch.state : 'running';
        const { endsStop } = reopen;
        return { kind: 'reopened', batch: await hold(queries, reopen, { batch, state, endsStop, goesOn: false }) };
      });
    },

    /**
     * Raises the fencing token, so that the previous round cannot write any more. A later attempt of the step raises it again.
     * @throws LoteError `claim-lost` for an attempt that is not the latest, or when another run has claimed the batch
     */
    beginRound({ batchId, attempt, fencingToken }: BeginRound): Promise<BatchRecord> {
      return database.transaction(async (queries) => {
        const [begun] = await queries.query<BatchRecord>(BEGIN_ROUND, [batchId, fencingToken, attempt]);
        if (begun !== undefined) return begun;
        throw roundLost({ batchId, fencingToken }, await lockBatch(queries, { batchId }));
      });
    },
  };
}

async function claimKnown(queries: Queries, claim: ClaimBatch, batch: BatchRecord): Promise<ClaimResult> {
  if (batch.state !== 'refused') await requireLatestAttempt(queries, claim, batch);
  const isMine = isHolder(claim, batch);
  const ends = { endsStop: claim.order === 'person', goesOn: claim.order === 'restart' };
  switch (batch.state) {
    case 'refused':
      // A run that refused the file and repeats its step after a crash gets the same answer.
      if (isMine || !isStart(claim) || isStopped(claim, batch)) return { kind: 'closed', batch };
      return { kind: 'claimed', batch: await hold(queries, claim, { batch, state: 'staging', ...ends }) };
    case 'finished':
    case 'cancelled':
      if (!isStart(claim) || isStopped(claim, batch) || !(await hasSomethingOpen(queries, batch.batchId)))
        return { kind: 'closed', batch };
      return { kind: 'resumed', batch: await hold(queries, claim, { batch, state: 'running', ...ends }) };
    case 'staging':
    case 'running':
    case 'paused': {
      if (!isMine && !mayTakeOver(claim, batch)) return { kind: 'owned', batch };
      // A pause ends with its run; only the stop remains.
      const state = batch.state === 'paused' && !isMine && !ends.goesOn ? 'running' : batch.state;
      const held = await hold(queries, claim, { batch, state, ...ends });
      if (isStopped(claim, batch) && !(isMine && batch.stopped?.what === 'held') && !isOrderedIn(claim, batch))
        return { kind: 'stopped', batch: held };
      return { kind: batch.state === 'staging' ? 'claimed' : 'resumed', batch: held };
    }
  }
}

/** After an operator stops a batch, only a person's order sends more of it. */
function isStopped({ order }: ClaimBatch, { stopped }: BatchRecord): boolean {
  return stopped !== null && order !== 'person';
}

/** `none` and `restart` are not new orders. */
function isStart({ order }: ClaimBatch): boolean {
  return order === 'person' || order === 'drop';
}

/** An operator's orders to the previous run also apply to the run that continues its work. */
function isOrderedIn({ order }: ClaimBatch, { stopped, state }: BatchRecord): boolean {
  const what = stopped?.what;
  return order === 'restart' && state !== 'staging' && (what === 'paused' || what === 'cancelled' || what === 'held');
}

/** An attempt must not take the work back after a later attempt of its run has claimed the batch. */
async function requireLatestAttempt(queries: Queries, asking: AskingRun, batch: BatchRecord): Promise<void> {
  if (!isHolder(asking, batch)) return;
  const [raised] = await queries.query<{ byClaim: boolean; raisedAttempt: number }>(LAST_RAISED, [batch.batchId]);
  if (raised?.byClaim === true && asking.attempt > raised.raisedAttempt) return;
  throw claimLost(batch, `attempt ${asking.attempt} of its run asks and a later one has claimed it`);
}

function isHolder(run: ClaimingRun, batch: BatchRecord): boolean {
  return batch.workflowId === run.workflowId && batch.runId === run.runId;
}

/** Two callers that see the same run closed may both try to take over. The second one finds the open run of the first, and must not take its claim. */
function mayTakeOver({ takeOver, closedRun }: ClaimBatch, batch: BatchRecord): boolean {
  return takeOver && (closedRun === undefined || isHolder(closedRun, batch));
}

async function hasSomethingOpen(queries: Queries, batchId: string): Promise<boolean> {
  return onlyRow(await queries.query<{ found: boolean }>(HAS_SOMETHING_OPEN, [batchId])).found;
}

async function hold(
  queries: Queries,
  { workflowId, runId, attempt }: AskingRun,
  to: { readonly batch: BatchRecord; readonly state: BatchState; readonly endsStop: boolean; readonly goesOn: boolean },
): Promise<BatchRecord> {
  const { batch, state, endsStop, goesOn } = to;
  const holder = [batch.batchId, workflowId, runId, state, attempt, String(endsStop), String(goesOn)];
  const [row] = await queries.query<BatchRecord>(HOLD_CLAIM, holder);
  return foundBatch(batch.batchId, row);
}

/** The id contains the first digits of the file's hash, so the other file belongs to another application or its hash collides. */
function idTaken(claim: ClaimBatch): LoteError {
  return new LoteError(
    'ledger-conflict',
    `Claiming a file as batch "${claim.batchId}": the id must be free or belong to the same application and file, and it belongs to another file; rename the file and drop it again`,
  );
}
