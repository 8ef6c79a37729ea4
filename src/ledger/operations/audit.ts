import type { InvoiceState } from '../../domain/invoice-state.ts';
import type {
  AuditAction,
  AuditedInvoice,
  AuditEntry,
  NotedAction,
} from '../../domain/ports/ledger/operating-ledger.ts';
import type { RetryMove } from '../../domain/retry-decision.ts';
import { column } from '../database/array-literal.ts';
import type { Database, Queries } from '../database/database.ts';

/** actionId, batchId, at, who or null, what, why, accepted duplicate risk. A step that is repeated writes its action once. */
const INSERT_AUDIT = `/* insert-audit */
INSERT INTO audit (action_id, batch_id, at, who, what, why, accepted_duplicate_risk) VALUES ($1, $2, $3, $4, $5, $6, $7::text::boolean)
ON CONFLICT (action_id) DO NOTHING`;

/** actionId, then arrays: invoiceId, generation before the move, ordinal, move, state before it. */
const INSERT_AUDIT_INVOICES = `/* insert-audit-invoices */
INSERT INTO audit_invoice (action_id, invoice_id, generation, ordinal, move, from_state)
SELECT $1, u.invoice_id, u.generation, u.ordinal, u.move, u.from_state
FROM unnest($2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::text[]) AS u(invoice_id, generation, ordinal, move, from_state)
ON CONFLICT DO NOTHING`;

interface AuditRow {
  readonly action_id: string;
  readonly at: number;
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly accepted_duplicate_risk: boolean;
  readonly invoices: number;
}

/** batchId. */
const LIST_AUDIT = `/* list-audit */
SELECT a.action_id, a.at, a.who, a.what, a.why, a.accepted_duplicate_risk,
  (SELECT count(*) FROM audit_invoice ai WHERE ai.action_id = a.action_id) AS invoices
FROM audit a WHERE a.batch_id = $1 ORDER BY a.seq`;

interface AuditInvoiceRow {
  readonly action_id: string;
  readonly ref: string;
  readonly file_rows: readonly number[];
  readonly move: string;
  readonly from_state: string;
  readonly generation: number;
}

/** batchId, how many of each action. */
const LIST_AUDIT_INVOICES = `/* list-audit-invoices */
SELECT ranked.action_id, bi.invoice_ref AS ref, bi.file_rows, ranked.move, ranked.from_state, ranked.generation
FROM (
  SELECT ai.*, row_number() OVER (PARTITION BY ai.action_id ORDER BY ai.ordinal, ai.generation) AS place
  FROM audit_invoice ai JOIN audit a ON a.action_id = ai.action_id
  WHERE a.batch_id = $1
) ranked
JOIN batch_invoice bi ON bi.batch_id = $1 AND bi.ordinal = ranked.ordinal
WHERE ranked.place <= $2
ORDER BY ranked.action_id, ranked.place`;

/** Enough to see what was meant; the ledger keeps the rest. */
const EXAMPLES = 20;

export interface AuditedMove {
  readonly invoiceId: number;
  readonly generation: number;
  readonly ordinal: number;
  readonly move: RetryMove;
  readonly from: string;
}

/** One action to be written into the audit. `now` is epoch milliseconds. */
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

/** Writes the action alone: it is in the audit whether or not it moved an invoice. */
export async function writeAction(queries: Queries, action: AuditedAction): Promise<void> {
  const { actionId, batchId, now, who, what, why, acceptedDuplicateRisk } = action;
  await queries.query(INSERT_AUDIT, [
    ...[actionId, batchId, now, who === null ? null : storable(who), what, storable(why)],
    acceptedDuplicateRisk ? 'true' : 'false',
  ]);
}

/** What moved no invoice: an action of the batch as a whole. */
export async function noteActions(database: Database, batchId: string, actions: readonly NotedAction[]): Promise<void> {
  if (actions.length === 0) return;
  await database.transaction((queries) => writeNotedActions(queries, batchId, actions));
}

/** The same, in the transaction of what the actions did. */
export async function writeNotedActions(
  queries: Queries,
  batchId: string,
  actions: readonly NotedAction[],
): Promise<void> {
  for (const { at, ...action } of actions)
    await writeAction(queries, { ...action, batchId, now: at, acceptedDuplicateRisk: false });
}

/** PostgreSQL takes no NUL in a text; what somebody typed must not keep a batch from its end. */
function storable(text: string): string {
  return text.replaceAll('\u0000', ' ');
}

/** The audit of a batch, oldest action first, with at most 20 invoices of each as examples. */
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
