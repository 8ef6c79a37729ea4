import type { InvoiceState } from '../../domain/invoice-state.ts';
import type { AuditAction, AuditedInvoice, AuditEntry, NotedAction } from '../../domain/ports/operating-ledger.ts';
import type { RetryMove } from '../../domain/retry-decision.ts';
import type { Database, Queries } from '../database/database.ts';
import { column } from '../database/array-literal.ts';
import type { AuditInvoiceRow, AuditRow } from './audit-sql.ts';
import { INSERT_AUDIT, INSERT_AUDIT_INVOICES, LIST_AUDIT, LIST_AUDIT_INVOICES } from './audit-sql.ts';

/** Enough to see what was meant; the ledger keeps the rest. */
const EXAMPLES = 20;

export interface AuditedMove {
  readonly invoiceId: number;
  readonly generation: number;
  readonly ordinal: number;
  readonly move: RetryMove;
  readonly from: string;
}

export interface AuditedAction extends AuditAction {
  readonly batchId: string;
  readonly what: string;
  readonly acceptedDuplicateRisk: boolean;
  readonly now: number;
}

/** Written in the transaction of the move itself: neither is ever there without the other. */
export async function writeAudit(
  queries: Queries,
  action: AuditedAction,
  moves: readonly AuditedMove[],
): Promise<void> {
  if (moves.length === 0) return;
  await writeAction(queries, action);
  await queries.query(INSERT_AUDIT_INVOICES, [
    action.actionId,
    column(moves, (move) => move.invoiceId),
    column(moves, (move) => move.generation),
    column(moves, (move) => move.ordinal),
    column(moves, (move) => move.move),
    column(moves, (move) => move.from),
  ]);
}

/** The action alone: an operator's word stands in the audit whether or not it moved an invoice. */
export async function writeAction(queries: Queries, action: AuditedAction): Promise<void> {
  const { actionId, batchId, now, who, what, why, acceptedDuplicateRisk } = action;
  await queries.query(INSERT_AUDIT, [actionId, batchId, now, who, what, why, acceptedDuplicateRisk ? 'true' : 'false']);
}

/** What moved no invoice: an action of the batch as a whole. */
export async function noteActions(database: Database, batchId: string, actions: readonly NotedAction[]): Promise<void> {
  if (actions.length === 0) return;
  await database.transaction(async (queries) => {
    for (const { actionId, at, who, what, why } of actions)
      await queries.query(INSERT_AUDIT, [actionId, batchId, at, who, what, why, 'false']);
  });
}

export async function readAudit(queries: Queries, batchId: string): Promise<readonly AuditEntry[]> {
  const actions = await queries.query<AuditRow>(LIST_AUDIT, [batchId]);
  if (actions.length === 0) return [];
  const examples = new Map<string, AuditedInvoice[]>();
  for (const row of await queries.query<AuditInvoiceRow>(LIST_AUDIT_INVOICES, [batchId, EXAMPLES])) {
    const list = examples.get(row.action_id) ?? [];
    examples.set(row.action_id, list);
    list.push({
      ref: row.ref,
      rows: row.file_rows,
      move: row.move as RetryMove,
      from: row.from_state as InvoiceState,
      generation: row.generation,
    });
  }
  return actions.map((action) => ({
    at: action.at,
    who: action.who,
    what: action.what,
    why: action.why,
    acceptedDuplicateRisk: action.accepted_duplicate_risk,
    invoices: action.invoices,
    examples: examples.get(action.action_id) ?? [],
  }));
}
