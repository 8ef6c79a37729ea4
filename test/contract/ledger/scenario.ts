import { createHash, randomUUID } from 'node:crypto';
import { stageValid } from '../../../activities/batch/stage-groups.ts';
import type { Finding, Invoice, Reason } from '../../../src/domain/invoice.ts';
import type { BatchClaim, BatchRecord } from '../../../src/domain/records/batch-record.ts';
import type { RetryPolicy } from '../../../src/domain/retry-decision.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { TakeUnknown } from '../../../src/ledger/operations/reconciling.ts';
import type { RetryRequest, RetrySelection } from '../../../src/ledger/operations/retrying.ts';
import type { ClaimBatch } from '../../../src/ledger/batches/claiming.ts';
import type { StageInvoice } from '../../../src/ledger/staging/stage-invoices.ts';
import type { RecordDelivery } from '../../../src/ledger/webhooks/deliveries.ts';
import type { StatusUpdate } from '../../../src/ledger/settling/settling.ts';
import type { RecordSend, SendOutcome } from '../../../src/ledger/sending/record-answers.ts';

export const NIF = '501964843';
export const OTHER_NIF = '502757191';
export const REASON: Reason = { code: 'because', message: 'Because the test says so' };
export const NOW = 1_700_000_000_000;
export const HOUR = 3_600_000;
export const LATER: Reason = { code: 'later', message: 'Later' };

export interface InvoiceText {
  readonly ref: string;
  readonly nif?: string;
  readonly unitPrice?: string;
  readonly legalName?: string | null;
  readonly email?: string | null;
  /** Staged without the accepted risk of a duplicate, for a service whose refusals prove nothing. */
  readonly keepsRejected?: boolean;
}

/** A plain text is a reference; what is ready to be staged stays as it is, with its ordinal. */
export type InvoiceTexts = readonly (InvoiceText | StageInvoice | string)[];

export function invoiceOf(given: InvoiceText | string): Invoice {
  const text = textOf(given);
  return {
    ref: text.ref,
    merchant: { nif: text.nif ?? NIF, legalName: text.legalName ?? null, email: text.email ?? null },
    customer: { name: 'Maria "Zé" \\ Ñandú, Lda.', taxId: null },
    currency: 'EUR',
    lines: [{ description: 'Café {1,2}', quantity: '2', unitPrice: text.unitPrice ?? '10.5', taxCode: 'IVA_23' }],
  };
}

function textOf(text: InvoiceText | string): InvoiceText {
  return typeof text === 'string' ? { ref: text } : text;
}

/** What an operator may order otherwise than `TestBatch.retry` does. */
interface RetryOver {
  readonly selection?: RetrySelection;
  readonly policy?: Partial<RetryPolicy>;
  readonly action?: Partial<RetryRequest['action']>;
}

/** A batch of a scenario, and the shortest way to each of its steps. */
export type TestBatch = ReturnType<typeof createBatch>;
export type Scenario = ReturnType<typeof createScenario>;

type Document = Pick<AcceptedOne, 'invoiceId' | 'serviceId'>;

/** An invoice that the service has accepted, and its batch. */
export interface AcceptedOne {
  readonly batch: TestBatch;
  readonly invoiceId: number;
  readonly serviceId: string;
}

/** Of the answer that accepts an invoice; its service id is a new one unless given. */
type AcceptOver = Partial<RecordSend> & { readonly serviceId?: string };

/** A batch of one invoice, which the service has accepted. */
export async function acceptedOne(scenario: Scenario, ref: string): Promise<AcceptedOne> {
  return (await scenario.run([ref])).accept(ref);
}

/** An application of its own: nothing of another test is in sight. */
export function createScenario(ledger: Ledger) {
  const application = `app-${randomUUID()}`;

  /** A new file, claimed and in `staging`. */
  async function begin(over: Partial<ClaimBatch> = {}) {
    const batch = createBatch(ledger, application);
    await batch.claim(over);
    return batch;
  }

  return {
    ledger,
    application,
    begin,
    /** A new file with these, whose staging has not ended. */
    async reading(...texts: InvoiceTexts) {
      const batch = await begin();
      await batch.read(...texts);
      return batch;
    },
    /** A new file, staged and running. */
    async run(texts: InvoiceTexts, pageSize = 2) {
      const batch = await begin();
      await batch.read(...texts);
      await batch.finishStaging(texts, pageSize);
      return batch;
    },
    valid: (text: InvoiceText | string, ordinal = 1) => validInvoice(application, invoiceOf(text), ordinal),
    serviceId: (name: string) => `inv_${application}_${name}`,
    /** Records one answer of the service. */
    answer: (...sent: Parameters<typeof answered>) => ledger.recordSends([answered(...sent)]),
    /** Records what a GET says of a document. */
    ask: ({ invoiceId, serviceId }: Document, status: StatusUpdate['status'], over?: Partial<StatusUpdate>) =>
      ledger.recordStatus([{ invoiceId, serviceId, status, reason: null, now: NOW + 50, ...over }]),
    /** Stores one delivery, and does not apply it. */
    store: (...event: Parameters<typeof delivery>) => ledger.storeDeliveries([delivery(...event)]),
    /** Stores and applies one delivery. */
    hear: (...event: Parameters<typeof delivery>) => recordDeliveries(ledger, [delivery(...event)]),
    /** Batches whose last report is no longer true. */
    outdated: () => ledger.outdatedReports(application),
    /** Of closed batches of the application. */
    openDocuments: (over?: Partial<Parameters<Ledger['openDocuments']>[0]>) =>
      ledger.openDocuments({ application, now: NOW, all: true, afterInvoiceId: 0, limit: 10_000, ...over }),
  };
}

function stagedOf(application: string, texts: InvoiceTexts): readonly StageInvoice[] {
  return texts.map((text, index) => {
    if (typeof text === 'object' && 'kind' in text) return text;
    const { keepsRejected = false } = textOf(text);
    return { ...validInvoice(application, invoiceOf(text), index + 1), keepsRejected };
  });
}

type Finished = Parameters<Ledger['finishStaging']>[1];

export async function finishStaging(
  ledger: Ledger,
  batch: BatchClaim,
  counts: Pick<Finished, 'invoices' | 'pageSize'> & Partial<Finished>,
): Promise<BatchRecord> {
  const none = { rowsWithoutInvoice: 0, fileFindings: [], proof: {} };
  return ledger.finishStaging(batch, { rows: counts.invoices, ...none, ...counts });
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

/** What came of one POST of an invoice, its first generation unless told. */
export function answered(invoiceId: number, outcome: SendOutcome, over: Partial<RecordSend> = {}): RecordSend {
  return { invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome, ...over };
}

export const REJECTED: SendOutcome = { kind: 'rejected', reason: REASON };

/** The key of an earlier generation was asked once more, and brought the same. */
export const NEXT_KEY: SendOutcome = { kind: 'next-key', reason: REASON, proven: false };

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

/** Stores deliveries and applies them at once, as a receiver does one after the other. */
export async function recordDeliveries(
  ledger: Pick<Ledger, 'storeDeliveries' | 'applyDeliveries'>,
  deliveries: readonly RecordDelivery[],
) {
  await ledger.storeDeliveries(deliveries);
  const known = deliveries.flatMap(({ event }) => (event?.verdict && event.serviceId !== null ? event.serviceId : []));
  return ledger.applyDeliveries(known);
}

export const RETRY_POLICY: RetryPolicy = {
  maxGenerations: 9,
  retentionMs: 24 * HOUR,
  rejectionIsProof: true,
  acceptDuplicateRisk: false,
  now: NOW + HOUR,
};

/** The ledger is shared by a whole file: other batches may be left open in it, so all of them are taken. */
export const TAKE: Omit<TakeUnknown, 'application'> = {
  now: NOW + HOUR,
  retentionMs: 24 * HOUR,
  staleMs: 600_000,
  all: true,
  afterInvoiceId: 0,
  limit: 10_000,
};

function createBatch(ledger: Ledger, application: string) {
  const batchId = `batch-${randomUUID()}`;
  const sha256 = createHash('sha256').update(batchId).digest('hex');
  let fencingToken = 0;
  let attempt = 0;
  const own: BatchClaim = {
    batchId,
    /** Of its last claim that was won. */
    get fencingToken() {
      return fencingToken;
    },
  };
  const lines = async () => (await collect(ledger.batchInvoices(batchId))).flat();
  const sendable = () => ledger.sendable(batchId, 1, 1_000_000);
  const one = async (ref: string) =>
    must(
      (await sendable()).find(({ invoice }) => invoice.ref === ref),
      ref,
    );
  const finish = () => ledger.setBatchState(batchId, 'finished', NOW + 9);

  /** staged -> sending; the invoice as it was handed out. */
  async function freeze(ref: string, given?: string) {
    const invoice = await one(ref);
    const { invoiceId, generation, earlier } = invoice;
    const body = given ?? (earlier === undefined ? null : invoice.body) ?? `{"ref":"${ref}"}`;
    const frozenAt = earlier === undefined ? null : invoice.mayExistSince;
    await ledger.freeze(batchId, [{ invoiceId, generation, body, frozenAt }], NOW);
    return invoice;
  }

  /** staged -> sending -> what the outcome says. */
  async function send(ref: string, outcome: SendOutcome, over?: Partial<RecordSend>) {
    const { invoiceId, generation } = await freeze(ref);
    await ledger.recordSends([answered(invoiceId, outcome, { generation, ...over })]);
  }

  /** Has the service accept an invoice, as a document of its own. */
  async function accept(ref: string, { serviceId = newId(ref), ...over }: AcceptOver = {}): Promise<AcceptedOne> {
    const { invoiceId, generation } = await freeze(ref);
    await ledger.recordSends([answered(invoiceId, accepted(serviceId), { generation, ...over })]);
    return { batch, invoiceId, serviceId };
  }

  const newId = (ref: string) => `inv_${application}_${ref}-${randomUUID()}`;

  /** Stages without ending the staging. */
  async function read(...texts: InvoiceTexts) {
    await ledger.stageInvoices(own, stagedOf(application, texts), NOW);
  }

  /** Ends the staging of these, or of so many invoices with a row each. */
  async function end(invoices: InvoiceTexts | number, pageSize = 2, over?: Partial<Finished>) {
    if (typeof invoices === 'number') return finishStaging(ledger, own, { invoices, pageSize, ...over });
    const rows = stagedOf(application, invoices).reduce((sum, one) => sum + one.rows.length, 0);
    return finishStaging(ledger, own, { invoices: invoices.length, pageSize, rows });
  }

  /** What writing a report leaves behind; of all that is not issued, unless told. */
  async function report(over?: Partial<Parameters<Ledger['noteReported']>[1]>) {
    const { mark, revision } = await ledger.sinceReport(batchId);
    const open = (await lines()).filter(({ state }) => state !== 'issued');
    return ledger.noteReported(batchId, { revision: revision + 1, writtenAt: NOW, mark, open, ...over });
  }

  const batch = {
    batchId,
    sha256,
    get fencingToken() {
      return fencingToken;
    },
    async claim(over: Partial<ClaimBatch> = {}) {
      attempt += 1;
      const result = await ledger.claimBatch({
        ...{ batchId, application, file: 'invoices.csv', sha256, workflowId: `workflow-of-${batchId}`, runId: 'run-1' },
        ...{ attempt, now: NOW, takeOver: false, order: 'person', ...over },
      });
      if (result.kind === 'claimed' || result.kind === 'resumed') ({ fencingToken } = result.batch);
      return result;
    },
    record: async () => must(await ledger.findBatch(batchId), batchId),
    ...{ lines, sendable, one, finish, freeze, accept, report },
    line: async (ref: string) =>
      must(
        (await lines()).find((line) => line.ref === ref),
        ref,
      ),
    states: async () => (await lines()).map(({ state }) => state),
    /** The state of each line, and the code of its reason if it has one. */
    outcomes: async () => (await lines()).map(({ state, reason }) => `${state} ${reason?.code ?? ''}`.trim()),
    send,
    reject: (ref: string) => send(ref, REJECTED),
    /** No answer came to its POST. */
    lose: (ref: string, reason = REASON) => send(ref, { kind: 'unknown', reason }),
    /** Freezes all that is sendable, each with the same bytes. */
    async freezeAll() {
      const all = await sendable();
      const items = all.map(({ invoiceId, generation }) => ({ invoiceId, generation, body: 'b' }));
      await ledger.freeze(batchId, items, NOW);
      return all;
    },
    read,
    finishStaging: end,
    /** Stages and ends the staging. */
    async stage(...texts: InvoiceTexts) {
      await read(...texts);
      await end(texts);
    },
    /** Has the service accept it, and issue it by an event. */
    async issue(ref: string, over?: AcceptOver) {
      const known = await accept(ref, over);
      await recordDeliveries(ledger, [delivery(known.serviceId, 'issued')]);
      return known;
    },
    /** Has the service accept it, and fail it by a GET. */
    async fail(ref: string, over?: AcceptOver) {
      const known = await accept(ref, over);
      const { invoiceId, serviceId } = known;
      await ledger.recordStatus([{ invoiceId, serviceId, status: 'failed', reason: REASON, now: NOW + 50 }]);
      return known;
    },
    refuse: (over: Partial<Parameters<Ledger['refuseBatch']>[1]> = {}) =>
      ledger.refuseBatch(own, { rows: 1, fileFindings: [], proof: {}, now: NOW, ...over }),
    /** Closes a page of it as if the time of all its invoices were over. */
    closePage: (over: Partial<Parameters<Ledger['closePage']>[2]> = {}, page = 1) =>
      ledger.closePage(batchId, page, { acceptedBefore: NOW + 1, reason: REASON, now: NOW, ...over }),
    setState: (state: Parameters<Ledger['setBatchState']>[1], at = NOW) => ledger.setBatchState(batchId, state, at),
    /** Ends it with `REASON` for all that is open. Returns how many were sent and have no final word. */
    end: (now = NOW) =>
      ledger.endBatch(batchId, { state: 'finished', unsent: REASON, left: REASON, now, fencingToken }),
    /** Writes a report as a finished batch. */
    async close() {
      await finish();
      await report();
    },
    /** Holds all that is unsent, with `REASON`. */
    hold: () => ledger.holdUnsent(batchId, { reason: REASON, now: NOW }),
    retry: ({ selection = {}, policy, action }: RetryOver = {}) =>
      ledger.retryInvoices({
        batchId,
        selection,
        policy: { ...RETRY_POLICY, ...policy },
        action: { actionId: randomUUID(), who: 'ana', why: 'again', ...action },
      }),
    /** The unknown ones of it that reconciliation takes; all of them an hour later, unless told. */
    async takeUnknown(over?: Partial<TakeUnknown>) {
      const keys = (await lines()).map(({ idempotencyKey }) => idempotencyKey);
      const taken = await ledger.takeUnknown({ ...TAKE, application, ...over });
      return taken.filter(({ idempotencyKey }) => keys.includes(idempotencyKey));
    },
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

/** The claim under which a batch of a scenario was read, as a page passes it on. */
export function claimOf(batchId: string) {
  return { batchId, run: { workflowId: `workflow-of-${batchId}`, runId: 'run-1' }, fencingToken: 1 };
}

export function serviceIdOf(scenario: Scenario, name: string): string {
  return scenario.serviceId(name);
}
