import type { Reason } from '../../domain/invoice.ts';
import { ACCEPTED_EARLIER, ISSUED_EARLIER } from '../../domain/machine/invoice-life.ts';
import {
  NEVER_REPEATED_REASONS,
  NO_FINAL_ANSWER,
  OLDER_LEDGER,
  SPENT_KEY_REASONS,
} from '../../domain/retry-decision.ts';
import { changeInvoices } from '../change-invoices.ts';
import type { Database } from '../../database/database.ts';
import { arrayLiteral, CLOSED_BATCH_STATES, column, isAheadSql, ISSUABLE_STATES, sqlList } from '../sql.ts';
import { EARLIER_GENERATION, type EarlierGeneration } from '../sending/sending.ts';
import { hear, openDocuments, type OpenDocument } from '../settling/settling.ts';

/** An `unknown` invoice that only this process may repeat now, with its key and its bytes. */
export interface RepeatInvoice {
  readonly invoiceId: number;
  readonly identity: string;
  readonly generation: number;
  readonly idempotencyKey: string;
  readonly body: string;
  /** When Lote froze its bytes; no POST of them left before. */
  readonly mayExistSince: number;
  /** When the last POST that the ledger knows left. */
  readonly lastTriedAt: number;
  /** Why its outcome is unknown. The reason stays when the repeat proves nothing. */
  readonly reason: Reason;
  /** As in `SendableInvoice`. */
  readonly earlier: EarlierGeneration | null;
}

/** A portion of the invoices of one application, because another application uses another key and account. */
interface PortionOfAll {
  readonly application: string;
  /** The last invoice id of the previous call; 0 starts from the beginning. */
  readonly afterInvoiceId: number;
  readonly limit: number;
}

export interface TakeUnknown extends PortionOfAll {
  readonly now: number;
  readonly retentionMs: number;
  /** A repeat without a recorded answer for this long counts as ended by a crash. */
  readonly staleMs: number;
  /** True takes all invoices that may be repeated; false only those that have waited long enough since their last try (`REPEATED`). */
  readonly all: boolean;
  /** True if the refusal of a repeat proves that no document exists: an invoice refused after a lost answer then does not wait. */
  readonly refusalIsProof?: boolean;
}

interface ExpirePending {
  readonly application: string;
  readonly acceptedBefore: number;
  readonly now: number;
}

interface EndRepeats {
  readonly application: string;
  readonly now: number;
  readonly frozenUntil: number;
  readonly reason: Reason;
  /** Message of `reason` if a clock that ran ahead froze the invoice, so that the time of its first POST is unknown. */
  readonly messageAhead: string;
}

const ANSWER_LOST = { code: 'answer-lost', message: 'Its last answer was lost, so its outcome is not known.' };

const SPENT = sqlList(SPENT_KEY_REASONS);

/** Parameters: now ($1), stale before ($2). */
const IS_STALE = `(i.changed_at < $2 OR ${isAheadSql('i.changed_at', '$1')})`;

/** SQL condition: the invoice is `unknown`, or its repeat last changed before $2 and counts as ended by a crash. */
const REPEATABLE = `(i.state = 'unknown' OR (i.state = 'sending' AND ${IS_STALE}))`;

/** Inside the retention window a repeat cannot make a second document, unless the ledger was restored from a copy and another key was used since. */
const REPEATED_BY_ITSELF = `(coalesce(i.reason_code, '') NOT IN ${sqlList(NEVER_REPEATED_REASONS)}
    AND NOT i.flags && '{${ISSUED_EARLIER},${OLDER_LEDGER}}' AND coalesce(i.reason_code, '') <> '${ACCEPTED_EARLIER}')`;

const UNSETTLED_DOCUMENTS = `/* unsettled-documents */${openDocuments('live_line i', 'i')}
WHERE i.batch_id = $1 AND i.state = 'unsettled' AND i.service_id IS NOT NULL AND i.invoice_id > $2
ORDER BY i.invoice_id
LIMIT $3`;

const BATCHES_LEFT_UNKNOWN = `/* batches-left-unknown */
SELECT DISTINCT i.owner_batch AS batch_id, i.is_stopped FROM left_open i
WHERE i.state = 'unknown' AND i.application = $1 AND ${REPEATED_BY_ITSELF}
ORDER BY i.owner_batch`;

/**
 * Parameters: now, stale before, frozen after, all, limit, invoiceId after which to continue, application, refusal is proof. Selects what the machine's
 * `take` may repeat. Without `all`, an invoice waits half of its age at its last try, or all of it for a spent key unless a refusal is proof.
 */
const REPEATED = `ARRAY(
  SELECT i.invoice_id
  FROM left_open i
  JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
  WHERE ${REPEATABLE} AND body.frozen_at > $3 AND NOT ${isAheadSql('body.frozen_at', '$1')}
    AND ${REPEATED_BY_ITSELF} AND NOT i.is_stopped
    AND ($4::text::boolean
      OR ($8::text::boolean AND i.reason_code = 'refused-after-lost-answer')
      OR ${isAheadSql('i.changed_at', '$1')}
      OR CASE WHEN i.reason_code IN ${SPENT} THEN 1 ELSE 2 END * ($1 - i.changed_at) >= i.changed_at - body.frozen_at)
    AND i.invoice_id > $6 AND i.application = $7
  ORDER BY i.invoice_id
  LIMIT $5)`;

const TAKEN = `/* taken-invoices */
SELECT i.invoice_id, i.identity, i.generation, i.idempotency_key, body.body, body.frozen_at AS may_exist_since, ${EARLIER_GENERATION} AS earlier
FROM invoice i JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
WHERE i.invoice_id = ANY($1::bigint[])
ORDER BY i.invoice_id`;

/** Parameters: application, frozen until, now. Selects invoices that a repeat would settle, but whose key the service may have forgotten. */
const FORGOTTEN_KEYS = leftOpen(
  `i.state IN ('sending', 'unknown') AND EXISTS (
    SELECT FROM invoice_body body WHERE body.invoice_id = i.invoice_id AND body.generation = i.generation
      AND (body.frozen_at <= $2 OR ${isAheadSql('body.frozen_at', '$3')}))`,
);

const LEFT_ACCEPTED = leftOpen(`i.state = 'accepted'`);

/** Returns SQL for ids of invoices of application $1 that the last report of a closed batch left open. */
function leftOpen(condition: string): string {
  return `ARRAY(SELECT i.invoice_id FROM left_open i WHERE i.application = $1 AND ${condition})`;
}

/** Parameter: invoiceIds. The reports that left them open gave another reason, which a comparison of states does not detect. */
const MARK_REASONS_CHANGED = `/* mark-reasons-changed */
UPDATE batch b SET news = b.news + 1
WHERE b.batch_id IN (
  SELECT r.batch_id
  FROM batch_invoice bi
  JOIN report_outcome r ON r.batch_id = bi.batch_id AND r.ordinal = bi.ordinal
  WHERE bi.invoice_id = ANY($1::bigint[]) AND bi.outcome IS NULL)`;

/**
 * Parameters: now, all, invoiceId after which to continue, limit, application. Always includes the other document of a
 * key that brought two. All documents of an invoice come in one portion, because the next one begins after the invoice.
 */
const OPEN_DOCUMENTS = `/* open-documents */${openDocuments('left_open i', 'i')}
WHERE i.state IN ('accepted', 'unsettled') AND i.service_id IS NOT NULL AND i.invoice_id > $3 AND i.application = $5
  AND ($2::text::boolean OR event.seq IS NOT NULL OR ${isAheadSql('i.changed_at', '$1')} OR 2 * ($1 - i.changed_at) >= i.changed_at - coalesce(i.accepted_at, i.changed_at))
UNION ALL${openDocuments(
  `invoice_generation g
JOIN invoice i ON i.invoice_id = g.invoice_id AND i.application = $5
JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ${CLOSED_BATCH_STATES}`,
  'g',
)}
WHERE g.generation < 0 AND g.state = 'accepted' AND g.invoice_id > $3
ORDER BY invoice_id
FETCH FIRST $4 ROWS WITH TIES`;

/** Service ids with a stored `issued` event that no invoice shows, because the process that stored it died before it applied it. */
const MISSED_EVENTS = `/* missed-events */
SELECT i.service_id
FROM left_open i
WHERE i.state IN ${ISSUABLE_STATES}
  AND EXISTS (SELECT 1 FROM delivery d WHERE d.service_id = i.service_id AND d.verdict = 'issued')
UNION ALL
SELECT g.service_id
FROM invoice_generation g
WHERE g.service_id IS NOT NULL AND g.state <> 'issued'
  AND EXISTS (SELECT 1 FROM delivery d WHERE d.service_id = g.service_id AND d.verdict = 'issued')`;

/** Much longer than the time until the next reconciliations, which find events that a dead process stored and did not apply. */
const LOOKED_BACK_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Service ids of issued invoices with a stored `failed` event and no flag yet. It reads the last week of such events by
 * their own index, so the cost does not grow.
 */
const MISSED_CONTRADICTIONS = `/* missed-contradictions */
SELECT DISTINCT i.service_id
FROM delivery d
JOIN document own ON own.service_id = d.service_id
JOIN invoice i ON i.invoice_id = own.invoice_id AND i.service_id = d.service_id AND i.state = 'issued'
WHERE d.verdict = 'failed' AND d.received_at >= (SELECT max(received_at) FROM delivery WHERE verdict = 'failed') - ${LOOKED_BACK_MS}
  AND NOT i.flags && '{failed-after-issued,issued-after-failed}'`;

/** Reads and moves invoices for reconciliation: only those that the last report of a closed batch left open, so the cost does not grow with the ledger. */
export function createReconciling(database: Database) {
  return {
    /** Returns closed batches that own an `unknown` invoice that can be repeated without an operator. */
    batchesLeftUnknown: (application: string) =>
      database.query<{ readonly batchId: string; readonly isStopped: boolean }>(BATCHES_LEFT_UNKNOWN, [application]),

    /**
     * Moves `unknown` invoices to `sending`, whichever batch owns them, in the order of their ids. Only one of two
     * reconcilers gets an invoice. Those outside the retention window are left out, or go back to `unknown`.
     */
    takeUnknown: (take: TakeUnknown): Promise<readonly RepeatInvoice[]> => takeUnknown(database, take),

    /**
     * Gives the final reason to `unknown` invoices of closed batches that were frozen at `frozenUntil` or before, or at a future time, because Lote cannot
     * repeat them. A spent key keeps its reason. Reports with another reason become outdated. Returns the number of changed invoices.
     */
    async endRepeats({ application, now, frozenUntil, reason, messageAhead }: EndRepeats): Promise<number> {
      const selection = { name: 'end-repeats', ids: FORGOTTEN_KEYS, params: [application, frozenUntil, now] };
      const command = { kind: 'end-repeats', frozenUntil, now, reason, messageAhead } as const;
      return database.transaction(async (queries) => {
        const ended = await changeInvoices(queries, selection, () => command);
        if (ended.length > 0) await queries.query(MARK_REASONS_CHANGED, [column(ended, ({ invoiceId }) => invoiceId)]);
        return ended.length;
      });
    },

    /** Marks the reports that left these invoices open as outdated, because their reason no longer holds. */
    async markReasonsChanged(invoiceIds: readonly number[]): Promise<void> {
      await database.query(MARK_REASONS_CHANGED, [arrayLiteral(invoiceIds)]);
    },

    /** Returns `accepted` and `unsettled` documents of closed batches, by id. Returns more than `limit` only if the last invoice has several documents. */
    openDocuments: (of: Pick<TakeUnknown, keyof PortionOfAll | 'now' | 'all'>) => {
      const params = [of.now, String(of.all), of.afterInvoiceId, of.limit, of.application];
      return database.query<OpenDocument>(OPEN_DOCUMENTS, params);
    },

    /** Returns `unsettled` documents of a batch that runs again, by id. */
    unsettledDocuments: (of: { readonly batchId: string; readonly afterInvoiceId: number; readonly limit: number }) =>
      database.query<OpenDocument>(UNSETTLED_DOCUMENTS, [of.batchId, of.afterInvoiceId, of.limit]),

    /** Applies stored `issued` events that a crash left unapplied, and flags issued invoices with a stored `failed` event. */
    async applyMissedEvents(): Promise<void> {
      const missed = await database.query<{ serviceId: string }>(MISSED_EVENTS);
      const contradicted = await database.query<{ serviceId: string }>(MISSED_CONTRADICTIONS);
      await hear(
        database,
        [...missed, ...contradicted].map((row) => row.serviceId),
      );
    },

    /** Moves invoices of closed batches from accepted to unsettled if accepted before `acceptedBefore` (epoch milliseconds). Returns their number. */
    async expirePending({ application, acceptedBefore, now }: ExpirePending): Promise<number> {
      const selection = { name: 'expire-pending', ids: LEFT_ACCEPTED, params: [application] };
      const command = { kind: 'expire', acceptedBefore, reason: NO_FINAL_ANSWER, now } as const;
      const expired = await database.transaction((queries) =>
        changeInvoices(queries, selection, ({ ownerIsClosed }) => (ownerIsClosed ? command : null)),
      );
      return expired.length;
    },
  };
}

async function takeUnknown(
  database: Database,
  { application, now, retentionMs, staleMs, ...take }: TakeUnknown,
): Promise<readonly RepeatInvoice[]> {
  const [staleBefore, frozenAfter] = [now - staleMs, now - retentionMs];
  // Selects repeats that a crash ended and that no process may resume.
  const givenUp = { name: 'give-up-repeats', ids: FORGOTTEN_KEYS, params: [application, frozenAfter, now] };
  const giveUp = { kind: 'give-up', reason: ANSWER_LOST, now, staleBefore, frozenUntil: frozenAfter } as const;
  await database.transaction((queries) => changeInvoices(queries, givenUp, () => giveUp));
  const params = [
    ...[now, staleBefore, frozenAfter, String(take.all), take.limit, take.afterInvoiceId],
    ...[application, String(take.refusalIsProof === true)],
  ];
  const selection = { name: 'take-unknown', ids: REPEATED, params };
  const command = { kind: 'take', staleBefore, frozenAfter, now } as const;
  return database.transaction(async (queries) => {
    const changes = await changeInvoices(queries, selection, () => command);
    if (changes.length === 0) return [];
    const before = new Map(changes.map((change) => [change.invoiceId, change.before]));
    const rows = await queries.query<Omit<RepeatInvoice, 'lastTriedAt' | 'reason'>>(TAKEN, [
      column(changes, ({ invoiceId }) => invoiceId),
    ]);
    return rows.flatMap((row) => {
      const taken = before.get(row.invoiceId);
      return taken ? [{ ...row, lastTriedAt: taken.changedAt, reason: taken.reason ?? ANSWER_LOST }] : [];
    });
  });
}
