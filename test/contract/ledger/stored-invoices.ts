import { afterAll, describe } from 'vitest';
import type { EventsSaid } from '../../../src/domain/machine/invoice-life.ts';
import type { Database } from '../../../src/database/database.ts';
import { openPostgresDatabase } from '../../../src/database/open-postgres-database.ts';
import { arrayLiteral } from '../../../src/ledger/sql.ts';
import type { Invoice } from '../../property/any-invoice.ts';
import { postgresSchema, postgresUrl } from '../../support/servers/postgres-database.ts';
import { temporaryDatabase } from '../../support/servers/temporary-database.ts';

/** Runs the tests on PGlite and, where this machine has it, on PostgreSQL in a schema of their own. */
export function onBothDatabases(
  title: string,
  tests: (open: () => Promise<Database>, schema: string | null) => void,
): void {
  describe(`${title} on PGlite`, () => {
    tests(temporaryDatabase, null);
  });

  const url = postgresUrl();
  describe.skipIf(url === null)(`${title} on PostgreSQL`, () => {
    const { connectionString, schema, drop } = postgresSchema(url ?? '');
    tests(() => Promise.resolve(openPostgresDatabase({ connectionString, schema })), schema);
    afterAll(drop);
  });
}

/** Writes an invoice as it is, with its documents; `identity` is its reference, too. Returns its id. */
export async function insertInvoice(database: Database, identity: string, invoice: Invoice): Promise<number> {
  const [row] = await database.query<{ invoiceId: number }>(
    `INSERT INTO invoice (identity, application, merchant_nif, invoice_ref, fingerprint, owner_batch, state, generation, idempotency_key,
       exposure, service_id, attempts, asks, first_sent_at, accepted_at, settled_at, changed_at, reason_code, reason_message, flags)
     VALUES ($1, 'model', 'nif', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17::text[]) RETURNING invoice_id`,
    [
      ...[identity, invoice.fingerprint, invoice.ownerBatch, invoice.state, invoice.generation],
      ...[invoice.idempotencyKey, invoice.exposure, invoice.serviceId, invoice.attempts, invoice.asks],
      ...[invoice.firstSentAt, invoice.acceptedAt, invoice.settledAt, invoice.changedAt],
      ...[invoice.reason?.code ?? null, invoice.reason?.message ?? null, arrayLiteral(invoice.flags)],
    ],
  );
  const { invoiceId = 0 } = row ?? {};
  const documents = new Set([invoice.serviceId, ...invoice.kept.map(({ serviceId }) => serviceId)]);
  await database.query('INSERT INTO document SELECT id, $2 FROM unnest($1::text[]) AS id WHERE id IS NOT NULL', [
    arrayLiteral([...documents]),
    invoiceId,
  ]);
  return invoiceId;
}

/** Writes a batch of that state, or the state of one that is there. */
export async function putBatch(database: Database, batchId: string, state: 'running' | 'finished'): Promise<void> {
  await database.query(
    `INSERT INTO batch (batch_id, application, file, sha256, state, workflow_id, run_id, started_at, page_size)
     VALUES ($1, 'model', $1, $1, $2, $1, $1, 1, 10) ON CONFLICT (batch_id) DO UPDATE SET state = excluded.state`,
    [batchId, state],
  );
}

/** Stores the deliveries that say what `now` says and `before` does not, in their order. */
export async function storeSaid(
  database: Database,
  serviceId: string,
  now: EventsSaid,
  before?: EventsSaid,
): Promise<void> {
  const verdicts = [
    ...(now.failedFirst && before?.failedFirst !== true ? ['failed'] : []),
    ...(now.issuedAt !== null && (before?.issuedAt ?? null) === null ? ['issued'] : []),
    ...(now.failedLater && before?.failedLater !== true ? ['failed'] : []),
  ];
  for (const verdict of verdicts) {
    const reason = verdict === 'failed' ? now.failure : null;
    await database.query(
      `INSERT INTO delivery (sha256, received_at, event_type, service_id, verdict, reason_code, reason_message)
       SELECT $1 || count(*), $2, 'event', $1, $3, $4, $5 FROM delivery WHERE service_id = $1`,
      [serviceId, now.issuedAt ?? 1, verdict, reason?.code ?? null, reason?.message ?? null],
    );
  }
}
