import type { InvoiceState } from '../../domain/invoice-state.ts';
import type { RetryRequest, RetryResult } from '../../domain/ports/ledger/operating-ledger.ts';
import {
  decideRetry,
  RETRY_BY_ROW_STATES,
  RETRY_STATES,
  type RetryMove,
  type RetryRefusal,
} from '../../domain/retry-decision.ts';
import { shareUnderToken } from '../batches/claim-proof.ts';
import { arrayLiteral, column } from '../database/array-literal.ts';
import type { Database, Queries } from '../database/database.ts';
import type { KeyOf } from '../database/key-of.ts';
import { type AuditedAction, writeAction, writeAudit } from './audit.ts';
import {
  ABANDON_SELECTED,
  ACCEPT_RISK,
  NEXT_CONTENT,
  REGENERATE_SELECTED,
  RELEASE_SELECTED,
  REPEAT_SELECTED,
  RETRY_CANDIDATES,
  type RetryCandidateRow,
} from './retry-moves-sql.ts';
import { KEEP_GENERATION } from '../staging/correct-invoices-sql.ts';

/** Invoices judged and moved in one transaction: large enough to amortise it, small enough that nobody waits for their locks. */
const PORTION = 1_000;

/** The largest integer of the database: no file has such a row, and whoever types one must not end the batch. */
const LAST_ROW = 2_147_483_647;

/** actionId. */
const MOVED_BY_ACTION = `/* moved-by-action */
SELECT move, count(*) AS invoices FROM audit_invoice WHERE action_id = $1 GROUP BY move`;

interface Judged {
  readonly row: RetryCandidateRow;
  readonly move: RetryMove;
}

/** Portion by portion, each in one transaction: what is judged is what is moved, and what is moved is in the audit. */
export async function retryInvoices(database: Database, keyOf: KeyOf, request: RetryRequest): Promise<RetryResult> {
  const moved: Record<RetryMove, number> = { release: 0, regenerate: 0, repeat: 0, abandon: 0 };
  const refused: Partial<Record<RetryRefusal, number>> = {};
  const pages = new Set<number>();
  for (let after = 0; ;) {
    const portion = await database.transaction((queries) => retryPortion(queries, { keyOf, request, after }));
    for (const { row, move } of portion.moved) {
      moved[move] += 1;
      pages.add(row.page);
    }
    for (const refusal of portion.refused) refused[refusal] = (refused[refusal] ?? 0) + 1;
    if (portion.last === null) break;
    after = portion.last;
  }
  // The retry policy of the profile runs after each round, mostly for nothing; an operator's word is always written down.
  if (pages.size === 0 && request.policy.unattended !== true) await writeAction(database, auditOf(request));
  if (pages.size === 0) await addMovedBefore(database, request, moved);
  return { moved, refused, pages: [...pages].sort((a, b) => a - b) };
}

/** An attempt that died after its moves has told nobody: the later one, which finds nothing to move, must. */
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

interface Portion {
  readonly moved: readonly Judged[];
  readonly refused: readonly RetryRefusal[];
  /** The last ordinal judged; null when there are no more. */
  readonly last: number | null;
}

async function retryPortion(
  queries: Queries,
  { keyOf, request, after }: { readonly keyOf: KeyOf; readonly request: RetryRequest; readonly after: number },
): Promise<Portion> {
  const { batchId, selection, policy } = request;
  await shareUnderToken(queries, batchId, request.fencingToken);
  const allowed = selection.rows === undefined ? RETRY_STATES : RETRY_BY_ROW_STATES;
  const rows = await queries.query<RetryCandidateRow>(RETRY_CANDIDATES, [
    batchId,
    arrayLiteral(selection.states ?? allowed),
    selection.rows === undefined ? null : arrayLiteral(selection.rows.filter((row) => row <= LAST_ROW)),
    selection.reasonCodes === undefined ? null : arrayLiteral(selection.reasonCodes),
    after,
    PORTION,
  ]);
  const judged: Judged[] = [];
  const refused: RetryRefusal[] = [];
  for (const row of rows) {
    const decision = decideRetry(
      {
        state: row.state as InvoiceState,
        generation: row.generation,
        reasonCode: row.reason_code,
        flags: row.flags,
        frozenAt: row.frozen_at,
        free: row.free,
        totalUnconfirmed: row.total_unconfirmed,
      },
      policy,
    );
    if ('move' in decision) judged.push({ row, move: decision.move });
    else refused.push(decision.refusal);
  }
  const moved = await moveAll(queries, judged, { keyOf, request });
  await writeAudit(
    queries,
    auditOf(request),
    moved.map(({ row, move }) => ({
      invoiceId: row.invoice_id,
      generation: row.generation,
      ordinal: row.ordinal,
      move,
      from: row.state,
    })),
  );
  const last = rows.length < PORTION ? null : Math.max(...rows.map((row) => row.ordinal));
  return { moved, refused, last };
}

async function moveAll(
  queries: Queries,
  judged: readonly Judged[],
  { keyOf, request }: { readonly keyOf: KeyOf; readonly request: RetryRequest },
): Promise<readonly Judged[]> {
  const won = new Set<number>();
  for (const move of ['release', 'repeat', 'regenerate', 'abandon'] as const) {
    const rows = judged.filter((one) => one.move === move).map((one) => one.row);
    if (rows.length === 0) continue;
    const ids = column(rows, (row) => row.invoice_id);
    const params = [request.batchId, request.policy.now, ids, column(rows, (row) => row.generation)];
    if (move === 'release' || move === 'repeat') {
      remember(await queries.query(move === 'release' ? RELEASE_SELECTED : REPEAT_SELECTED, params));
      if (move === 'repeat' && request.policy.acceptDuplicateRisk)
        await queries.query(ACCEPT_RISK, [ids, request.policy.now]);
      continue;
    }
    await queries.query(KEEP_GENERATION, [ids]);
    await queries.query(NEXT_CONTENT, [ids]);
    const keys = column(rows, (row) => nextKey(keyOf, row));
    remember(await queries.query(move === 'regenerate' ? REGENERATE_SELECTED : ABANDON_SELECTED, [...params, keys]));
  }
  return judged.filter(({ row }) => won.has(row.invoice_id));

  function remember(rows: readonly object[]): void {
    for (const row of rows as readonly { readonly invoice_id: number }[]) won.add(row.invoice_id);
  }
}

function nextKey(keyOf: KeyOf, row: RetryCandidateRow): string {
  const identity = { application: row.application, merchantNif: row.merchant_nif, ref: row.invoice_ref };
  return keyOf(identity, row.fingerprint, row.generation + 1);
}
