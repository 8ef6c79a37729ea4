import { createHash } from 'node:crypto';
import pg from 'pg';
import { fingerprintOf, idempotencyKeyOf } from '../../src/domain/fingerprint.ts';
import type { Invoice } from '../../src/domain/invoice.ts';
import { netOf } from '../../src/domain/money.ts';
import type { RawRow } from '../../src/domain/row.ts';
import { openPostgresLedger } from '../../src/ledger/open-postgres-ledger.ts';
import { processTreeUsage } from '../measures/process-tree-usage.ts';
import { givenInput, notify, untilLetGo } from './parent.ts';
import type { SendableInvoice } from '../../src/ledger/sending/sending.ts';
import type { StageInvoice } from '../../src/ledger/staging/stage-invoices.ts';
import type { RecordDelivery } from '../../src/ledger/webhooks/deliveries.ts';

export interface LedgerInput {
  readonly invoices: number;
  /** Answers, and deliveries, in one statement: what comes together at some hundred invoices a second. */
  readonly group: number;
  readonly databaseUrl: string;
  readonly databasePid: number;
}

export interface LedgerStep {
  readonly name: string;
  readonly serverCpuMs: number;
  readonly clientCpuMs: number;
  readonly statements: number;
  readonly walBytes: number;
  readonly walRecords: number;
}

export interface LedgerRun {
  readonly steps: readonly LedgerStep[];
}

const APPLICATION = 'default';
const BATCH = 'bench-ledger';
const PORTION = 1_000;
const SLICE = 1_000;
const PAGE = 2_000;
/** A first file, so that no plan is made and no index is split for the first time while something is measured. */
const WARM_UP = 2_000;

const { invoices, group, databaseUrl, databasePid } = givenInput<LedgerInput>();
const ledger = await openPostgresLedger({ connectionString: databaseUrl });
const admin = new pg.Client({ connectionString: databaseUrl });
await admin.connect();

const steps: LedgerStep[] = [];
await issueAll({ batchId: 'warm-up', from: 1_000_000, count: WARM_UP, measure: (_name, work) => work() });
await issueAll({ batchId: BATCH, from: 1, count: invoices, measure });
notify({ steps } satisfies LedgerRun);
await untilLetGo();
await admin.end();
await ledger.close();

async function issueAll(batch: {
  readonly batchId: string;
  readonly from: number;
  readonly count: number;
  readonly measure: (name: string, work: () => Promise<void>) => Promise<void>;
}): Promise<void> {
  const { batchId, from, count } = batch;
  const claimed = await ledger.claimBatch({
    ...{ batchId, application: APPLICATION, file: `${batchId}.csv`, sha256: batchId, workflowId: batchId },
    ...{ runId: batchId, attempt: 1, now: Date.now(), takeOver: false, order: 'person' },
  });
  const staged = Array.from({ length: count }, (_, at) => stageable(from + at, at + 1));
  await batch.measure('raw rows', async () => {
    const store = ledger.rowStore(claimed.batch);
    for (const portion of portions(staged, PORTION)) await store.append(portion.map(rawRow));
  });
  await batch.measure('stage', async () => {
    for (const portion of portions(staged, PORTION)) await ledger.stageInvoices(claimed.batch, portion, Date.now());
    await ledger.finishStaging(claimed.batch, {
      ...{ rows: count, rowsWithoutInvoice: 0, invoices: count, pageSize: PAGE, fileFindings: [], proof: {} },
    });
  });
  const sendable: SendableInvoice[] = [];
  await batch.measure('hand out', async () => {
    for (let at = 1; at <= count; at += SLICE) sendable.push(...(await ledger.sendable(batchId, at, at + SLICE - 1)));
  });
  await batch.measure('freeze', async () => {
    for (const slice of portions(sendable, SLICE))
      await ledger.freeze(
        batchId,
        slice.map(({ invoiceId, generation, invoice }) => ({ invoiceId, generation, body: bodyOf(invoice) })),
        Date.now(),
      );
  });
  await batch.measure('record answers', async () => {
    for (const answered of portions(sendable, group)) await recordAnswers(answered);
  });
  await batch.measure('store deliveries', async () => {
    for (const delivered of portions(sendable, group)) await ledger.storeDeliveries(delivered.map(deliveryOf));
  });
  await batch.measure('apply deliveries', async () => {
    for (const delivered of portions(sendable, group))
      await ledger.applyDeliveries(delivered.map(({ invoiceId }) => serviceIdOf(invoiceId)));
  });
}

async function recordAnswers(answered: readonly SendableInvoice[]): Promise<void> {
  await ledger.recordSends(
    answered.map(({ invoiceId, generation }) => ({
      ...{ invoiceId, generation, attempts: 1, sentAt: Date.now(), answeredAt: Date.now() },
      outcome: { kind: 'accepted', serviceId: serviceIdOf(invoiceId) },
    })),
  );
}

async function measure(name: string, work: () => Promise<void>): Promise<void> {
  const before = await usage();
  await work();
  const after = await usage();
  steps.push({
    name,
    serverCpuMs: after.serverCpuMs - before.serverCpuMs,
    clientCpuMs: after.clientCpuMs - before.clientCpuMs,
    statements: after.statements - before.statements,
    walBytes: after.walBytes - before.walBytes,
    walRecords: after.walRecords - before.walRecords,
  });
}

async function usage(): Promise<Omit<LedgerStep, 'name'>> {
  const { user, system } = process.cpuUsage();
  const { rows } = await admin.query<{ wal_records: string; wal_bytes: string; commits: string }>(
    `SELECT wal_records, wal_bytes, (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits
     FROM pg_stat_wal, pg_stat_clear_snapshot()`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('Reading the counters of the write-ahead log: found no row');
  return {
    serverCpuMs: (await processTreeUsage(databasePid)).cpuMs,
    clientCpuMs: (user + system) / 1000,
    statements: Number(row.commits),
    walBytes: Number(row.wal_bytes),
    walRecords: Number(row.wal_records),
  };
}

function stageable(number: number, ordinal: number): Extract<StageInvoice, { kind: 'valid' }> {
  const invoice: Invoice = {
    ref: `FT 2026/${number}`,
    merchant: { nif: '501964843', legalName: 'Bench, Lda.', email: 'bench@bench.example' },
    customer: { name: `Cliente Secreto ${number}`, taxId: String(200_000_000 + number) },
    currency: 'EUR',
    lines: [{ description: `Artigo ${number}`, quantity: '3', unitPrice: '10.25', taxCode: 'IVA_23' }],
  };
  const fingerprint = fingerprintOf(invoice);
  const identity = { application: APPLICATION, merchantNif: invoice.merchant.nif, ref: invoice.ref };
  return {
    ...{ kind: 'valid', ordinal, invoice, fingerprint, idempotencyKey: idempotencyKeyOf(identity, fingerprint, 1) },
    ...{ net: netOf(invoice.lines), rows: [ordinal + 1], findings: [] },
  };
}

function rawRow({ ordinal, invoice }: Extract<StageInvoice, { kind: 'valid' }>): RawRow {
  const { ref, merchant, customer, currency } = invoice;
  const cells = [ref, merchant.nif, merchant.legalName, merchant.email, customer.name, customer.taxId, currency];
  return {
    row: ordinal + 1,
    ref,
    nif: merchant.nif,
    object: null,
    cells: [...cells, 'Artigo', '3', '10.25', 'IVA_23'],
  };
}

function bodyOf({ customer, currency, lines }: Invoice): string {
  return JSON.stringify({ merchant_id: 'mrc_0123456789abcdef', customer, currency, lines });
}

function serviceIdOf(invoiceId: number): string {
  return `inv_${createHash('sha256').update(String(invoiceId)).digest('hex').slice(0, 24)}`;
}

function deliveryOf({ invoiceId }: SendableInvoice): RecordDelivery {
  const serviceId = serviceIdOf(invoiceId);
  const raw = Buffer.from(
    JSON.stringify({ id: `evt_${serviceId}`, type: 'invoice.issued', data: { id: serviceId, status: 'issued' } }),
  );
  return {
    sha256: createHash('sha256').update(raw).digest('hex'),
    raw,
    receivedAt: Date.now(),
    event: { type: 'invoice.issued', eventId: `evt_${serviceId}`, serviceId, verdict: 'issued', reason: null },
  };
}

function portions<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
