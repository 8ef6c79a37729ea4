import { idempotencyKeyOf } from '../../domain/fingerprint.ts';
import type { AuditAction, FencingToken } from '../../domain/records/batch-record.ts';
import {
  RETRY_BY_ROW_STATES,
  RETRY_STATES,
  type RetryMove,
  type RetryPolicy,
  type RetryRefusal,
  type RetryState,
} from '../../domain/retry-decision.ts';
import { shareBatch } from '../batches/batch.ts';
import { PAGE_OF, arrayLiteral } from '../sql.ts';
import { changeLocked } from '../change-invoices.ts';
import type { Database, Queries } from '../../database/database.ts';
import { acceptLostSends } from '../sending/lost-sends.ts';
import { type AuditedAction, type AuditedMove, writeAction, writeAudit } from './audit.ts';

/** Selects invoices of a batch; an invoice must match all given criteria. References are not a criterion, because Temporal's history would keep them. */
export interface RetrySelection {
  /** Default: every state that may be retried; `unknown` only when rows are given. */
  readonly states?: readonly RetryState[];
  /** Row numbers of the file. An invoice matches if one of its rows does. */
  readonly rows?: readonly number[];
  /** Only invoices whose reason has one of these codes; the retry policy uses this criterion. */
  readonly reasonCodes?: readonly string[];
}

/** An order of an operator or of the retry policy to send invoices of a batch again. */
export interface RetryRequest {
  readonly batchId: string;
  readonly selection: RetrySelection;
  readonly policy: RetryPolicy;
  readonly action: AuditAction;
  readonly fencingToken?: FencingToken;
}

/** Numbers of invoices by move and by refusal. */
export interface RetryResult {
  readonly moved: Readonly<Record<RetryMove, number>>;
  readonly refused: Readonly<Partial<Record<RetryRefusal, number>>>;
  /** Pages on which an invoice moved; ascending. */
  readonly pages: readonly number[];
}

/** Number of invoices in one transaction: enough to amortise it, and few enough that no other transaction waits long for their locks. */
const PORTION = 1_000;

/** The largest integer of the database. No file has such a row. A person who types a larger number must not make the batch fail. */
const LAST_ROW = 2_147_483_647;

const MOVED_BY_ACTION = `/* moved-by-action */
SELECT move, count(*) AS invoices FROM audit_invoice WHERE action_id = $1 GROUP BY move`;

/** One row of `RETRY_CANDIDATES`. `total_unconfirmed`: the total of this batch waits for an operator. */
interface RetryCandidateRow {
  readonly invoiceId: number;
  readonly ordinal: number;
  readonly page: number;
  readonly totalUnconfirmed: boolean;
}

/** Parameters: batchId, states, rows or null, reason codes or null, ordinal to continue after, limit. Locks the rows until the decisions are written. */
const RETRY_CANDIDATES = `/* retry-candidates */
SELECT i.invoice_id, bi.ordinal, ${PAGE_OF} AS page,
  coalesce(b.total_confirmed_at IS NULL AND b.total_check::jsonb ->> 'kind' = 'unusual', false) AS total_unconfirmed
FROM (
  SELECT i.invoice_id, i.ordinal FROM live_line i
  WHERE i.batch_id = $1 AND i.ordinal > $5 AND i.state = ANY($2::text[])
    AND ($3::integer[] IS NULL OR i.file_rows && $3::integer[])
    AND ($4::text[] IS NULL OR i.reason_code = ANY($4::text[]))
  ORDER BY i.ordinal
  LIMIT $6
) bi
JOIN invoice i ON i.invoice_id = bi.invoice_id
JOIN batch b ON b.batch_id = $1
ORDER BY i.invoice_id
FOR UPDATE OF i`;

/**
 * Retries the selected invoices of a batch by `decideRetry`: release, regenerate (next generation, new key), repeat
 * (same key and bytes), abandon. One transaction judges, moves and audits each portion, so that the three always agree.
 */
export async function retryInvoices(database: Database, request: RetryRequest): Promise<RetryResult> {
  const moved: Record<RetryMove, number> = { release: 0, regenerate: 0, repeat: 0, abandon: 0 };
  const refused: Partial<Record<RetryRefusal, number>> = {};
  const pages = new Set<number>();
  for (let after = 0; ;) {
    const portion = await database.transaction((queries) => retryPortion(queries, request, after));
    for (const { move, page } of portion.moved) {
      moved[move] += 1;
      pages.add(page);
    }
    for (const refusal of portion.refused) refused[refusal] = (refused[refusal] ?? 0) + 1;
    if (portion.last === null) break;
    after = portion.last;
  }
  // The profile's retry policy runs after each round, mostly without effect. An operator's order always goes into the audit.
  if (pages.size === 0 && request.policy.unattended !== true) await writeAction(database, auditOf(request));
  if (pages.size === 0) await addMovedBefore(database, request, moved);
  return { moved, refused, pages: [...pages].sort((a, b) => a - b) };
}

/** Adds the moves of an earlier attempt that died before it returned them. This attempt finds nothing to move, but must return them. */
async function addMovedBefore(
  database: Database,
  { action }: RetryRequest,
  moved: Record<RetryMove, number>,
): Promise<void> {
  const rows = await database.query<{ move: RetryMove; invoices: number }>(MOVED_BY_ACTION, [action.actionId]);
  for (const { move, invoices } of rows) moved[move] += invoices;
}

function auditOf({ action, batchId, policy }: RetryRequest): AuditedAction {
  return { ...action, batchId, what: 'retry', acceptedDuplicateRisk: policy.acceptDuplicateRisk, now: policy.now };
}

interface Moved extends AuditedMove {
  readonly page: number;
}

interface Portion {
  readonly moved: readonly Moved[];
  readonly refused: readonly RetryRefusal[];
  /** The last ordinal judged; null after the last portion. */
  readonly last: number | null;
}

async function retryPortion(queries: Queries, request: RetryRequest, after: number): Promise<Portion> {
  const { batchId, selection, policy } = request;
  await shareBatch(queries, request);
  const allowed = selection.rows === undefined ? RETRY_STATES : RETRY_BY_ROW_STATES;
  const rows = await queries.query<RetryCandidateRow>(RETRY_CANDIDATES, [
    batchId,
    arrayLiteral(selection.states ?? allowed),
    selection.rows === undefined ? null : arrayLiteral(selection.rows.filter((row) => row <= LAST_ROW)),
    selection.reasonCodes === undefined ? null : arrayLiteral(selection.reasonCodes),
    after,
    PORTION,
  ]);
  const changes = await changeLocked(queries, rows, ({ identity, fingerprint }, { totalUnconfirmed }) => {
    const keyOf = (generation: number): string => idempotencyKeyOf(identity, fingerprint, generation);
    return { kind: 'retry', batchId, policy, totalUnconfirmed, keyOf };
  });
  const moved: Moved[] = [];
  const refused: RetryRefusal[] = [];
  for (const { invoiceId, row, before, decision } of changes) {
    const { ordinal, page } = row;
    if ('refusal' in decision) refused.push(decision.refusal === 'not-now' ? 'state-not-retryable' : decision.refusal);
    else if (decision.move !== undefined)
      moved.push({ invoiceId, generation: before.generation, ordinal, page, move: decision.move, from: before.state });
  }
  if (policy.acceptDuplicateRisk) {
    const accepted = moved.map(({ invoiceId }) => invoiceId);
    await acceptLostSends(queries, accepted, policy.now);
  }
  await writeAudit(queries, auditOf(request), moved);
  const last = rows.length < PORTION ? null : Math.max(...rows.map((row) => row.ordinal));
  return { moved, refused, last };
}
