import { createHash, randomUUID } from 'node:crypto';
import { stageValid } from '../../../activities/batch/stage-invoice.ts';
import type { Finding, Invoice, Reason } from '../../../src/domain/invoice.ts';
import type { ClaimBatch, ClaimResult, StageInvoice } from '../../../src/domain/ports/ledger/batch-ledger.ts';
import type { BatchInvoice, BatchRecord } from '../../../src/domain/ports/ledger/batch-record.ts';
import type { RecordDelivery } from '../../../src/domain/ports/ledger/delivery-ledger.ts';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import type { SendableInvoice, SendOutcome } from '../../../src/domain/ports/ledger/sending-ledger.ts';
import type { SettledInvoice } from '../../../src/domain/ports/ledger/settling-ledger.ts';

/** How the suite gets a ledger: each driver's test file passes its own. */
export type OpenLedger = () => Promise<Ledger>;

export const NIF = '501964843';
export const OTHER_NIF = '502757191';
export const REASON: Reason = { code: 'because', message: 'Because the test says so' };
export const NOW = 1_700_000_000_000;

export interface InvoiceText {
  readonly ref: string;
  readonly nif?: string;
  readonly unitPrice?: string;
  readonly legalName?: string | null;
  readonly email?: string | null;
  /** Staged without the accepted risk of a duplicate, for a service whose refusals prove nothing. */
  readonly keepsRejected?: boolean;
}

export function invoiceOf(text: InvoiceText): Invoice {
  return {
    ref: text.ref,
    merchant: { nif: text.nif ?? NIF, legalName: text.legalName ?? null, email: text.email ?? null },
    customer: { name: 'Maria "Zé" \\ Ñandú, Lda.', taxId: null },
    currency: 'EUR',
    lines: [{ description: 'Café {1,2}', quantity: '2', unitPrice: text.unitPrice ?? '10.5', taxCode: 'IVA_23' }],
  };
}

/** A batch of a scenario, and the shortest way to each of its steps. */
export interface TestBatch {
  readonly batchId: string;
  readonly sha256: string;
  /** Of its last claim that was won. */
  readonly fencingToken: number;
  claim(over?: Partial<ClaimBatch>): Promise<ClaimResult>;
  record(): Promise<BatchRecord>;
  lines(): Promise<readonly BatchInvoice[]>;
  line(ref: string): Promise<BatchInvoice>;
  sendable(): Promise<readonly SendableInvoice[]>;
  one(ref: string): Promise<SendableInvoice>;
  /** staged -> sending; the invoice as it was handed out. */
  freeze(ref: string, body?: string): Promise<SendableInvoice>;
  /** staged -> sending -> what the outcome says. */
  send(
    ref: string,
    outcome: SendOutcome,
    over?: { readonly attempts?: number; readonly sentAt?: number },
  ): Promise<readonly SettledInvoice[]>;
  finish(): Promise<void>;
}

export interface Scenario {
  readonly ledger: Ledger;
  readonly application: string;
  /** A new file, claimed and in `staging`. */
  begin(over?: Parameters<TestBatch['claim']>[0]): Promise<TestBatch>;
  /** A new file, staged and running; page size 2 unless told. */
  run(texts: readonly InvoiceText[], pageSize?: number): Promise<TestBatch>;
}

/** An application of its own: nothing of another test is in sight. */
export function createScenario(ledger: Ledger): Scenario {
  const application = `app-${randomUUID()}`;
  return { ledger, application, begin, run };

  async function begin(over?: Parameters<TestBatch['claim']>[0]): Promise<TestBatch> {
    const batch = createBatch(ledger, application);
    await batch.claim(over);
    return batch;
  }

  async function run(texts: readonly InvoiceText[], pageSize = 2): Promise<TestBatch> {
    const batch = await begin();
    await stage(ledger, batch, { application, texts, pageSize });
    return batch;
  }
}

/** Stages and ends the staging. */
export async function stage(
  ledger: Ledger,
  batch: TestBatch,
  file: { readonly application: string; readonly texts: readonly InvoiceText[]; readonly pageSize?: number },
): Promise<void> {
  const invoices = file.texts.map((text, index) => ({
    ...validInvoice(file.application, invoiceOf(text), index + 1),
    ...(text.keepsRejected === true ? { keepsRejected: true } : {}),
  }));
  await ledger.stageInvoices(batch, invoices, NOW);
  await finishStaging(ledger, batch, { invoices: invoices.length, pageSize: file.pageSize ?? 2 });
}

export async function finishStaging(
  ledger: Ledger,
  batch: TestBatch,
  counts: { readonly invoices: number; readonly pageSize: number; readonly rows?: number },
): Promise<BatchRecord> {
  const { invoices, pageSize, rows = invoices } = counts;
  return ledger.finishStaging(batch, {
    rows,
    rowsWithoutInvoice: 0,
    invoices,
    pageSize,
    fileFindings: [],
    proof: {},
  });
}

export function validInvoice(
  application: string,
  invoice: Invoice,
  ordinal: number,
): Extract<StageInvoice, { kind: 'valid' }> {
  return stageValid(application, ordinal, { invoice, rows: [ordinal + 1], findings: [] });
}

export function invalidInvoice(
  ordinal: number,
  over: { readonly ref?: string; readonly net?: string | null } = {},
): StageInvoice {
  const finding: Finding = {
    row: ordinal + 1,
    column: 'quantity',
    code: 'quantity-unreadable',
    message: 'Not a number',
    severity: 'error',
  };
  const net = over.net ?? null;
  return {
    kind: 'invalid',
    ordinal,
    ref: over.ref ?? `bad-${ordinal}`,
    merchantNif: NIF,
    currency: net === null ? null : 'EUR',
    net,
    rows: [ordinal + 1],
    findings: [{ ...finding, code: 'late', severity: 'warning' }, finding],
  };
}

export function accepted(serviceId: string): SendOutcome {
  return { kind: 'accepted', serviceId };
}

export function serviceIdOf(scenario: Scenario, name: string): string {
  return `inv_${scenario.application}_${name}`;
}

export function delivery(
  serviceId: string | null,
  verdict: 'issued' | 'failed' | null,
  over: { readonly bytes?: string; readonly receivedAt?: number; readonly reason?: Reason } = {},
): RecordDelivery {
  const raw = Buffer.from(over.bytes ?? `${serviceId}|${verdict}|${over.receivedAt ?? NOW}`);
  return {
    sha256: createHash('sha256').update(raw).digest('hex'),
    raw,
    receivedAt: over.receivedAt ?? NOW + 5_000,
    event: { type: `invoice.${verdict}`, eventId: null, serviceId, verdict, reason: over.reason ?? null },
  };
}

function createBatch(ledger: Ledger, application: string): TestBatch {
  const batchId = `batch-${randomUUID()}`;
  const sha256 = createHash('sha256').update(batchId).digest('hex');
  let fencingToken = 0;
  let attempt = 0;
  const batch: TestBatch = {
    batchId,
    sha256,
    get fencingToken() {
      return fencingToken;
    },
    async claim(over = {}) {
      attempt += 1;
      const result = await ledger.claimBatch({
        batchId,
        application,
        file: 'invoices.csv',
        sha256,
        workflowId: `workflow-of-${batchId}`,
        runId: 'run-1',
        attempt,
        now: NOW,
        takeOver: false,
        ...over,
      });
      if (result.kind === 'claimed' || result.kind === 'resumed') ({ fencingToken } = result.batch);
      return result;
    },
    record: async () => must(await ledger.findBatch(batchId), batchId),
    lines: async () => (await collect(ledger.batchInvoices(batchId))).flat(),
    line: async (ref) =>
      must(
        (await batch.lines()).find((line) => line.ref === ref),
        ref,
      ),
    sendable: () => ledger.sendable(batchId, 1, 1_000_000),
    one: async (ref) =>
      must(
        (await batch.sendable()).find(({ invoice }) => invoice.ref === ref),
        ref,
      ),
    async freeze(ref, body = `{"ref":"${ref}"}`) {
      const invoice = await batch.one(ref);
      await ledger.freeze(batchId, [{ invoiceId: invoice.invoiceId, generation: invoice.generation, body }], NOW);
      return invoice;
    },
    async send(ref, outcome, over = {}) {
      const { invoiceId, generation } = await batch.freeze(ref);
      return ledger.recordSends([
        { invoiceId, generation, attempts: over.attempts ?? 1, sentAt: over.sentAt ?? NOW, outcome },
      ]);
    },
    finish: () => ledger.setBatchState(batchId, 'finished', NOW + 9),
  };
  return batch;
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

function must<Value>(value: Value | null | undefined, name: string): Value {
  if (value === null || value === undefined)
    throw new Error(`The scenario expected "${name}" in the ledger and did not find it`);
  return value;
}
