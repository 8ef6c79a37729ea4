import type { InvoiceState } from '../../domain/invoice-state.ts';
import type { AuditAction, NotedAction } from '../../domain/records/batch-record.ts';
import type { RetryMove } from '../../domain/retry-decision.ts';
import type { Database, Queries } from '../../database/database.ts';
import { recordset } from '../sql.ts';

/** The effect of an action on one invoice. */
export interface AuditedInvoice {
  readonly ref: string;
  readonly rows: readonly number[];
  readonly move: RetryMove;
  readonly from: InvoiceState;
  readonly generation: number;
}

/** One action of the audit. `at` is epoch milliseconds; `who` is null if unknown; `invoices` is the number of moved invoices. */
export interface AuditEntry {
  readonly at: number;
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly acceptedDuplicateRisk: boolean;
  readonly invoices: number;
  /** The first moved invoices, in the file's order. */
  readonly examples: readonly AuditedInvoice[];
}

/** Parameters: actionId, batchId, at, who or null, what, why, accepted duplicate risk. A repeated step writes its action once. */
const INSERT_AUDIT = `/* insert-audit */
INSERT INTO audit (action_id, batch_id, at, who, what, why, accepted_duplicate_risk) VALUES ($1, $2, $3, $4, $5, $6, $7::text::boolean)
ON CONFLICT (action_id) DO NOTHING`;

const INSERT_AUDIT_INVOICES = `/* insert-audit-invoices */
INSERT INTO audit_invoice SELECT * FROM json_populate_recordset(NULL::audit_invoice, $1::text::json)
ON CONFLICT DO NOTHING`;

/** Parameters: batchId, number of examples for each action. */
const LIST_AUDIT = `/* list-audit */
SELECT a.at, a.who, a.what, a.why, a.accepted_duplicate_risk, coalesce(moved.invoices, 0) AS invoices, coalesce(moved.examples, '[]') AS examples
FROM audit a
LEFT JOIN (
  SELECT ranked.action_id, count(*) AS invoices,
    json_agg(json_build_object('ref', bi.invoice_ref, 'rows', bi.file_rows, 'move', ranked.move, 'from', ranked.from_state,
      'generation', ranked.generation) ORDER BY ranked.place) FILTER (WHERE ranked.place <= $2) AS examples
  FROM (
    SELECT ai.*, row_number() OVER (PARTITION BY ai.action_id ORDER BY ai.ordinal, ai.generation) AS place
    FROM audit_invoice ai JOIN audit a ON a.action_id = ai.action_id
    WHERE a.batch_id = $1
  ) ranked
  JOIN batch_invoice bi ON bi.batch_id = $1 AND bi.ordinal = ranked.ordinal
  GROUP BY ranked.action_id
) moved ON moved.action_id = a.action_id
WHERE a.batch_id = $1 ORDER BY a.seq`;

/** So many examples are enough to understand an action; the ledger keeps the rest. */
const EXAMPLES = 20;

/** The effect of an action on one invoice, for `writeAudit`. */
export interface AuditedMove {
  readonly invoiceId: number;
  readonly generation: number;
  readonly ordinal: number;
  readonly move: RetryMove;
  readonly from: string;
}

/** An action to write into the audit. `now` is epoch milliseconds. */
export interface AuditedAction extends AuditAction {
  readonly batchId: string;
  readonly what: string;
  readonly acceptedDuplicateRisk: boolean;
  readonly now: number;
}

/** Records actions of operators and of the retry policy. */
export function createAudit(database: Database) {
  return {
    /** Writes operators' actions on a whole batch into the audit. A repeated call writes each action once. */
    async noteActions(batchId: string, actions: readonly NotedAction[]): Promise<void> {
      if (actions.length > 0) await database.transaction((queries) => writeNotedActions(queries, batchId, actions));
    },

    /** Returns the actions oldest first, with at most 20 example invoices for each. */
    auditOf: (batchId: string) => database.query<AuditEntry>(LIST_AUDIT, [batchId, EXAMPLES]),
  };
}

/** Writes an action and its moves. Call it in the transaction of the moves, so that both are stored or neither is. */
export async function writeAudit(
  queries: Queries,
  action: AuditedAction,
  moves: readonly AuditedMove[],
): Promise<void> {
  if (moves.length === 0) return;
  await writeAction(queries, action);
  const { actionId } = action;
  await queries.query(INSERT_AUDIT_INVOICES, [
    recordset(moves.map(({ from: fromState, ...move }) => ({ ...move, fromState, actionId }))),
  ]);
}

/** Writes only the action, even if it moved no invoice. */
export async function writeAction(queries: Queries, action: AuditedAction): Promise<void> {
  const { actionId, batchId, now, who, what, why, acceptedDuplicateRisk } = action;
  await queries.query(INSERT_AUDIT, [
    ...[actionId, batchId, now, who === null ? null : storable(who), what, storable(why)],
    acceptedDuplicateRisk ? 'true' : 'false',
  ]);
}

/** Writes actions on a whole batch. Call it in the transaction of their effects. */
export async function writeNotedActions(
  queries: Queries,
  batchId: string,
  actions: readonly NotedAction[],
): Promise<void> {
  for (const { at, ...action } of actions)
    await writeAction(queries, { ...action, batchId, now: at, acceptedDuplicateRisk: false });
}

/** PostgreSQL text cannot hold NUL, and an operator's text must not keep a batch from finishing. */
function storable(text: string): string {
  return text.replaceAll('\u0000', ' ');
}
