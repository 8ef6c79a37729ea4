import type { AnswerCounts } from '../../answer-counts.ts';
import type { Finding, Invoice, Reason } from '../../invoice.ts';
import type { InvoiceState, Outcome } from '../../invoice-state.ts';
import type { OperatingLedger } from './operating-ledger.ts';
import type { ReconcilingLedger, ReportMarkLedger } from './reconciling-ledger.ts';
import type { BatchClaim, BatchInvoice, BatchRecord, FencingToken, InvoiceTry, OutcomeCount } from './batch-record.ts';
import type { FiguresLedger } from '../figures.ts';
import type { InvoiceLookup } from '../invoice-lookup.ts';
import type { MeasuringLedger } from '../measures.ts';
import type { ProfileMisfitLedger } from './profile-misfit-ledger.ts';
import type { PurgeLedger } from './purge-ledger.ts';
import type { SendingControlLedger } from './sending-control-ledger.ts';
import type { ServiceUseLedger } from './service-use-ledger.ts';
import type { SendingMarkLedger } from './sending-mark-ledger.ts';
import type { SharedFolderLedger } from './shared-folder-ledger.ts';
import type { TotalLedger } from './total-ledger.ts';
import type { RowStore } from '../row-store.ts';

export type {
  BatchClaim,
  BatchInvoice,
  BatchRecord,
  BatchState,
  FencingToken,
  InvoiceTry,
  OutcomeCount,
} from './batch-record.ts';

/**
 * The ledger: the truth about batches, invoices, deliveries. All times are epoch milliseconds, passed in by the caller.
 * Every method commits before it resolves. Calls with many items are set statements; calls with few may be merged with
 * others in flight (group commit). Methods never throw for a lost race: the result says what held. A lost claim is an
 * error, `claim-lost`.
 * @throws LoteError `ledger-unavailable` when the database cannot be reached; nothing was acknowledged then.
 */
export interface Ledger
  extends
    BatchLedger,
    SendingLedger,
    SendingControlLedger,
    SettlingLedger,
    MerchantLedger,
    DeliveryLedger,
    EndpointLedger,
    BreakerLedger,
    OperatingLedger,
    ReconcilingLedger,
    ReportMarkLedger,
    FiguresLedger,
    ServiceUseLedger,
    InvoiceLookup,
    PurgeLedger,
    SharedFolderLedger,
    SendingMarkLedger,
    ProfileMisfitLedger,
    TotalLedger,
    MeasuringLedger {
  /** Made once per database; activities carry it and refuse another ledger's work. */
  readonly id: string;
  /** Resolves when the database answers. @throws LoteError `ledger-unavailable` */
  ping(): Promise<void>;
  close(): Promise<void>;
}

// ---------------------------------------------------------------- batches

/**
 * One attempt of a run to claim the batch of a file. `sha256` is the hex digest of the file's bytes, `now` is epoch
 * milliseconds.
 */
export interface ClaimBatch {
  readonly batchId: string;
  readonly application: string;
  readonly file: string;
  readonly sha256: string;
  readonly workflowId: string;
  readonly runId: string;
  /**
   * Which attempt of the step asks, from 1: one that was stopped and goes on later takes nothing from a later one of
   * its run.
   */
  readonly attempt: number;
  readonly now: number;
  /** True when the run that holds the claim is known to be closed: the claim is then taken over. */
  readonly takeOver: boolean;
  /** With `takeOver`: the run that was found closed. When another one holds the claim by now, it is not taken. */
  readonly closedRun?: { readonly workflowId: string; readonly runId: string };
  /** A file that was refused is read again, from the start: it may be dropped with other options now. */
  readonly rereadRefused?: boolean;
  /**
   * It has waited for the run that had the file, and takes that run's answer: a batch that was closed meanwhile is not
   * opened again.
   */
  readonly waited?: boolean;
}

/** Who holds the batch after the attempt, and what the caller does next. */
export type ClaimResult =
  /** New, or begun by a run that died before it had staged everything: ingest from the start. */
  | { readonly kind: 'claimed'; readonly batch: BatchRecord }
  /** Staged before: run the pages with open invoices. */
  | { readonly kind: 'resumed'; readonly batch: BatchRecord }
  /** Another run holds it. Ask Temporal whether that run is open; then attach to it, or claim with `takeOver`. */
  | { readonly kind: 'owned'; readonly batch: BatchRecord }
  /** Closed with everything final, or refused: its report stands. */
  | { readonly kind: 'closed'; readonly batch: BatchRecord };

/** One invoice of a batch at staging. */
export type StageInvoice =
  | {
      readonly kind: 'valid';
      readonly ordinal: number;
      readonly invoice: Invoice;
      readonly fingerprint: string;
      /** For generation 1. */
      readonly idempotencyKey: string;
      readonly net: string;
      readonly rows: readonly number[];
      readonly findings: readonly Finding[];
      /**
       * Its content does not replace a `rejected` one: at this service a refusal does not prove that nothing was
       * created, and no operator has accepted the risk of a duplicate.
       */
      readonly keepsRejected?: boolean;
      /** The starter of the batch has confirmed that references which look alike are two. */
      readonly lookAlikesKept?: true;
    }
  | {
      readonly kind: 'invalid';
      readonly ordinal: number;
      readonly ref: string;
      readonly merchantNif: string;
      readonly currency: string | null;
      readonly net: string | null;
      readonly rows: readonly number[];
      readonly findings: readonly Finding[];
    };

/**
 * What the file contained: numbers of rows and invoices, the findings about the file as a whole, and how it was read.
 */
export interface FinishStaging {
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  readonly invoices: number;
  readonly pageSize: number;
  readonly fileFindings: readonly Finding[];
  readonly proof: Readonly<Record<string, unknown>>;
}

/** A part of the invoices of a batch. */
export interface InvoicesWith {
  readonly outcomes: ReadonlySet<Outcome>;
  /** Begin behind this ordinal; default 0. */
  readonly after?: number;
  /** How many of them to leave out first; default 0. */
  readonly skip?: number;
  readonly limit: number;
}

/** Claiming, staging, reading and closing of batches. */
export interface BatchLedger {
  /**
   * Atomic: exactly one (workflowId, runId) holds a batch. A later attempt of the same pair holds it still. Key:
   * application + sha256. Each claim that is won raises the fencing token; the methods that take a `BatchClaim` prove
   * theirs against it in the same transaction.
   * @throws LoteError `claim-lost` for an attempt of the holder that is not its latest
   */
  claimBatch(claim: ClaimBatch): Promise<ClaimResult>;
  findBatch(batchId: string): Promise<BatchRecord | null>;
  /** Newest first. */
  listBatches(limit: number, application?: string | null): Promise<readonly BatchRecord[]>;
  /** Those that have not ended: of each application the newest, at most `limit` of them. */
  newestOpenBatches(limit: number): Promise<readonly BatchRecord[]>;
  /**
   * Forget what an interrupted staging left behind (rows, invoices that were never sent, findings). Only in state
   * `staging`.
   */
  restartStaging(claim: BatchClaim): Promise<void>;
  /** Raw rows of a batch in `staging`. Its methods throw `claim-lost` too. */
  rowStore(claim: BatchClaim): RowStore;
  /**
   * Writes the batch's invoices, in set statements, by the ownership rule of docs/ledger.md: new identity -> `staged`,
   * owned by this batch; same fingerprint -> attached (issued before -> outcome `already-issued`; `staged`/`held` of a
   * closed owner -> taken over and `staged`); other fingerprint -> `conflict`, unless `failed`/`rejected`, or
   * `staged`/`held` of a closed owner: then corrected content takes over with the next generation. The key of a later
   * generation is computed by the `keyOf` given to the ledger when it was opened.
   */
  stageInvoices(claim: BatchClaim, invoices: readonly StageInvoice[], now: number): Promise<void>;
  /**
   * staging -> running; drops the raw rows; page of an invoice = ceil(ordinal / pageSize).
   * @throws LoteError `ledger-conflict` when invoices and rows in the ledger are not those that were read
   */
  finishStaging(claim: BatchClaim, staged: FinishStaging): Promise<BatchRecord>;
  /** staging -> refused. */
  refuseBatch(
    claim: BatchClaim,
    refusal: {
      readonly rows: number;
      readonly fileFindings: readonly Finding[];
      readonly proof: Readonly<Record<string, unknown>>;
      readonly now: number;
    },
  ): Promise<BatchRecord>;
  setBatchState(
    batchId: string,
    state: 'running' | 'paused' | 'cancelled' | 'finished',
    now: number,
    fencingToken?: FencingToken,
  ): Promise<void>;
  /**
   * `held` invoices of this batch that may go again -> `staged`; `unknown` and `unsettled` stay for reconciliation.
   * Returns how many.
   */
  releaseHeld(batchId: string, now: number, fencingToken?: FencingToken): Promise<number>;
  /**
   * unknown -> sending, for the pages of this batch: same key and bytes, frozen after this moment. Returns how many.
   */
  repeatUnknown(batchId: string, frozenAfter: number, fencingToken?: FencingToken): Promise<number>;
  /** Pages with a `staged`/`sending` invoice whose owner is not closed, or any `accepted` one; ascending. */
  openPages(batchId: string): Promise<readonly number[]>;
  countOutcomes(batchId: string): Promise<readonly OutcomeCount[]>;
  fileFindings(batchId: string): Promise<readonly Finding[]>;
  /** In ordinal order, in portions. */
  batchInvoices(batchId: string): AsyncIterable<readonly BatchInvoice[]>;
  /** In ordinal order, those of some outcomes: a part of a list that is chosen in the database. */
  invoicesWith(batchId: string, which: InvoicesWith): Promise<readonly BatchInvoice[]>;
  /** Revision rises by one; returns it. */
  nextRevision(batchId: string): Promise<number>;
}

// ---------------------------------------------------------------- sending

/** An invoice to send, of generation `generation`. */
export interface SendableInvoice {
  readonly invoiceId: number;
  readonly ordinal: number;
  readonly generation: number;
  readonly invoice: Invoice;
  readonly idempotencyKey: string;
  readonly state: 'staged' | 'sending';
  /** The frozen bytes when it was `sending` already; a POST of them may have reached the service. */
  readonly body: string | null;
  /** The service's id of the merchant, when known. */
  readonly merchantId: string | null;
  readonly attempts: number;
  /** First POST of this generation; null when none was tried. */
  readonly firstSentAt: number | null;
  /** An answer of this generation was lost, or a crash may have lost one. */
  readonly mayExist: boolean;
  /**
   * Since when a lost POST of this generation may have reached the service, or an operator last accepted that; null:
   * every earlier one is proved not to have.
   */
  readonly mayExistSince: number | null;
  /** The service kept an error under its key when it was last sent. */
  readonly errorKept?: true;
}

/** Bytes of the POST of one generation. They are committed before the first POST and never change. */
export interface FreezeInvoice {
  readonly invoiceId: number;
  readonly generation: number;
  readonly body: string;
}

/** What became of one invoice's POSTs, after this process is done with it for now. */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly serviceId: string }
  /** `proven`: it refuses a repeat, and proves that no earlier POST under the key created anything. */
  | { readonly kind: 'rejected'; readonly reason: Reason; readonly proven?: true }
  | { readonly kind: 'unknown'; readonly reason: Reason }
  | { readonly kind: 'held'; readonly reason: Reason }
  /** Stays `sending`: to be tried again later with the same key and bytes. */
  | { readonly kind: 'pending'; readonly reason: Reason; readonly mayExist: boolean };

/** Result of POSTing one invoice, to be recorded. Times are epoch milliseconds. */
export interface RecordSend {
  readonly invoiceId: number;
  readonly generation: number;
  /** POSTs made since the last record. */
  readonly attempts: number;
  readonly sentAt: number;
  /** When the answer came: the settle time starts with it. Left out: `sentAt`. */
  readonly answeredAt?: number;
  readonly outcome: SendOutcome;
  /** Those of these POSTs that brought no final word; left out: none. */
  readonly tries?: readonly InvoiceTry[];
}

export interface CountAnswers {
  /** Of the retry policy: what failed with one of them, below so many generations, is sent again. */
  readonly retryableCodes: readonly string[];
  readonly maxGenerations: number;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The invoices of a batch that are still to be sent: handing out, freezing, recording answers, holding. */
export interface SendingLedger {
  /** Counts POSTs that were repeated in this run of the batch; returns their number so far. */
  addRepeats(batchId: string, repeats: number): Promise<number>;
  /** Owned by this batch, `staged` or `sending`, ordinal in [from, to], in ordinal order; handing them out is written down. One found `sending`
   * comes with mayExist true unless each of its tries is written and proved not to have reached the service. */
  sendable(batchId: string, from: number, to: number): Promise<readonly SendableInvoice[]>;
  /**
   * staged -> sending with frozen bytes, only where this batch owns it and the generation still holds. Returns the
   * invoiceIds that moved.
   */
  freeze(batchId: string, items: readonly FreezeInvoice[], now: number): Promise<readonly number[]>;
  /**
   * sending -> staged, by the very attempt that froze these invoices, for those of which it POSTed nothing. What was
   * handed out again meanwhile stays as it is. Returns how many moved.
   */
  unfreeze(
    batchId: string,
    invoices: readonly { readonly invoiceId: number; readonly generation: number }[],
    put: { readonly reason: Reason; readonly now: number },
  ): Promise<number>;
  /**
   * Records answers; then, in a new snapshot, applies events that came before. A serviceId that another invoice has:
   * the invoice becomes `unknown`, reason `service-id-taken`. Returns invoices that are final now. With `patienceMs`, so
   * many milliseconds may pass until they are written, while few others are to be written with them.
   */
  recordSends(
    items: readonly RecordSend[],
    company?: { readonly patienceMs: number },
  ): Promise<readonly SettledInvoice[]>;
  /** Ordinals of the first of its unsent invoices (owned, `staged` or `sending`), at most `limit`; ascending. */
  firstUnsent(batchId: string, limit: number): Promise<readonly number[]>;
  /** What the service has said of the owned invoices of the batch with ordinal in [from, to], or of all. */
  countAnswers(batchId: string, count: CountAnswers): Promise<AnswerCounts>;
  /** At most so many of its invoices were refused, and failed or were reported to have: no other invoice is read. */
  mostFailures(batchId: string): Promise<Pick<AnswerCounts, 'refused' | 'failed'>>;
  /**
   * staged -> held (or sending -> held when nothing reached the service) for owned invoices of the batch; optionally of
   * one merchant only.
   */
  holdUnsent(
    batchId: string,
    hold: {
      readonly reason: Reason;
      readonly merchantNif?: string;
      readonly page?: number;
      readonly now: number;
      readonly fencingToken?: FencingToken;
    },
  ): Promise<number>;
}

// ---------------------------------------------------------------- settling

/** An invoice that reached a state that ends waiting, for every batch it belongs to. */
export interface SettledInvoice {
  readonly batchId: string;
  readonly workflowId: string;
  readonly page: number;
  readonly ordinal: number;
  readonly state: InvoiceState;
}

/** An accepted invoice without a final word, to be polled by GET. `acceptedAt` is epoch milliseconds. */
export interface PendingInvoice {
  readonly invoiceId: number;
  readonly ordinal: number;
  readonly serviceId: string;
  readonly acceptedAt: number;
  /** How many of the planned polls are done. */
  readonly asks: number;
}

/** What a GET said of an invoice. `now` is epoch milliseconds. */
export interface StatusUpdate {
  readonly invoiceId: number;
  /** The document that was polled: a correction may have given the invoice another one meanwhile. */
  readonly serviceId: string;
  readonly status: 'issued' | 'failed' | 'processing' | 'unreadable';
  /** `failed` is the word of a signed event alone: the GET that was to confirm it could not be read. */
  readonly unconfirmed?: boolean;
  readonly reason: Reason | null;
  /** How many of the planned polls are done by now. As many as before: the poll was out of turn. Left out: one more. */
  readonly asks?: number;
  readonly now: number;
}

/** Numbers of invoices of one page by what the page still waits for. Times are epoch milliseconds. */
export interface PageProgress {
  /** `staged`/`sending` that this batch owns. */
  readonly unsent: number;
  /** `accepted`, whoever owns them. */
  readonly accepted: number;
  /** `staged`/`sending` that another batch owns, and that is not closed. */
  readonly attached: number;
  /** `accepted` with a stored `failed` event: `unconfirmedFailures` lists them. */
  readonly reportedFailed: number;
  /** Earliest acceptance among the `accepted`; null when none. */
  readonly oldestAcceptedAt: number | null;
  readonly newestAcceptedAt: number | null;
  readonly counts: Readonly<Partial<Record<Outcome, number>>>;
  /** By the events that this reading applied before it counted. */
  readonly settled: readonly SettledInvoice[];
}

/** The way of accepted invoices to a final word, and the closing of pages and batches. */
export interface SettlingLedger {
  /** First applies events that are stored and not applied: the process that stored them may have died in between. */
  pageProgress(batchId: string, page: number): Promise<PageProgress>;
  /** How many `accepted` and `attached` invoices `pageProgress` would count, without a look at stored events: a third of its price. */
  pageOpen(batchId: string, page: number): Promise<number>;
  /** `accepted` invoices of a page accepted before `acceptedBefore` (any owner), fewest polls first. */
  pendingInvoices(
    batchId: string,
    page: number,
    acceptedBefore: number,
    limit: number,
  ): Promise<readonly PendingInvoice[]>;
  /** Counts the poll; `issued` and `failed` move the invoice by the transition table. */
  recordStatus(updates: readonly StatusUpdate[]): Promise<readonly SettledInvoice[]>;
  /**
   * End of a page: accepted -> unsettled where accepted before `acceptedBefore`; owned staged -> held; owned sending ->
   * unknown when mayExist, else held.
   */
  closePage(
    batchId: string,
    page: number,
    close: {
      readonly acceptedBefore: number;
      readonly reason: Reason;
      readonly now: number;
      readonly fencingToken?: FencingToken;
    },
  ): Promise<void>;
  /** End of a batch that runs: the same for whatever it owns and a failed page left open. Returns how many. */
  closeBatch(
    batchId: string,
    close: { readonly reason: Reason; readonly now: number; readonly fencingToken?: FencingToken },
  ): Promise<number>;
}

// ---------------------------------------------------------------- merchants

/**
 * A merchant that must exist at the service before its invoices are sent. Null: the file does not say it, and the
 * merchant cannot be created without it.
 */
export interface MerchantNeed {
  readonly nif: string;
  readonly legalName: string | null;
  readonly email: string | null;
}

/** Ids that the service gave the merchants of an application. */
export interface MerchantLedger {
  /**
   * Merchants of owned `staged` invoices of the batch without a known service id. First non-null details in file order.
   */
  merchantsNeeded(batchId: string): Promise<readonly MerchantNeed[]>;
  saveMerchants(
    application: string,
    merchants: readonly { readonly nif: string; readonly merchantId: string }[],
  ): Promise<void>;
}

// ---------------------------------------------------------------- webhooks

/** Where an application has its events sent. */
export interface WebhookPlace {
  readonly baseUrl: string;
  readonly application: string;
  readonly url: string;
}

/** A registered webhook endpoint. `secret` signs its deliveries; null: the service sent none. */
export interface WebhookEndpointRecord extends WebhookPlace {
  readonly secret: string | null;
}

export type EndpointClaim =
  | { readonly kind: 'registered' }
  /**
   * This claimant alone may register. `unanswered`: so many before it have, or may have, asked the service and not said
   * what it answered.
   */
  | { readonly kind: 'claimed'; readonly unanswered: number }
  /** Another process registers at this moment. */
  | { readonly kind: 'taken' };

/** One webhook delivery with a valid signature, as it is stored. `receivedAt` is epoch milliseconds. */
export interface RecordDelivery {
  /** SHA-256 (hex) of the delivery, and of what tells its events apart: duplicates are stored once. */
  readonly sha256: string;
  readonly raw: Uint8Array;
  readonly receivedAt: number;
  /** Of several applications, the one whose receiver took it: only its invoices hear of it. Left out: there is one. */
  readonly application?: string;
  /** null: correctly signed but unreadable; stored, and an alert for the report. */
  readonly event: {
    readonly type: string;
    readonly eventId: string | null;
    readonly serviceId: string | null;
    /** From the profile; null for an event type that says nothing final. */
    readonly verdict: 'issued' | 'failed' | null;
    readonly reason: Reason | null;
  } | null;
}

/** Numbers of deliveries that were stored now, and that had been stored before (same SHA-256). */
export interface StoredDeliveries {
  readonly stored: number;
  readonly duplicates: number;
}

/** What applying stored deliveries changed, and which invoices must now be polled. */
export interface AppliedDeliveries {
  readonly settled: readonly SettledInvoice[];
  /** Ids of invoices whose `failed` event waits for a GET's confirmation. */
  readonly toConfirm: readonly { readonly invoiceId: number; readonly serviceId: string }[];
  /** Service ids of issued invoices that no event calls issued, with a `failed` event; left out: none. */
  readonly contradicted?: readonly string[];
}

export type DeliveryResult = StoredDeliveries & AppliedDeliveries;

/** Each counted to 10,000 at most. */
export interface DeliveryTrouble {
  /** Correctly signed, and neither an event nor JSON. */
  readonly unreadable: number;
  /** Final words about service ids that no invoice has, nor ever had. */
  readonly unknownIds: number;
}

/** An accepted invoice of which a signed event says that it failed. */
export interface ReportedFailure {
  readonly invoiceId: number;
  readonly serviceId: string;
  readonly reason: Reason | null;
  readonly asks: number;
}

/** Deliveries of the service: stored as they came, then applied. */
export interface DeliveryLedger {
  /** Stores the deliveries and commits. What is not applied after that, `pageProgress` applies. */
  storeDeliveries(deliveries: readonly RecordDelivery[]): Promise<StoredDeliveries>;
  /**
   * Applies what is stored about these service ids, in a new snapshot. Unknown ids stay unmatched and are applied by
   * recordSends. With an application, ids of documents of another one are left alone.
   */
  applyDeliveries(serviceIds: readonly string[], application?: string | null): Promise<AppliedDeliveries>;
  /** The one, then the other. */
  recordDeliveries(deliveries: readonly RecordDelivery[]): Promise<DeliveryResult>;
  /** Accepted invoices with a stored `failed` event that no GET has confirmed. */
  unconfirmedFailures(
    batchId: string,
    page: number,
    limit: number,
  ): Promise<readonly { readonly invoiceId: number; readonly serviceId: string; readonly reason: Reason | null }[]>;
  /**
   * The same for all invoices that the batch owns: a random sample of at most `limit`. `reported` is how many there
   * are.
   */
  reportedFailures(
    batchId: string,
    limit: number,
  ): Promise<{ readonly reported: number; readonly invoices: readonly ReportedFailure[] }>;
  unmatchedDeliveries(): Promise<number>;
  /** Deliveries received since then (epoch milliseconds) that an operator should check. */
  deliveryTrouble(since: number, application?: string | null): Promise<DeliveryTrouble>;
}

/** The webhook endpoints that were registered at the service. */
export interface EndpointLedger {
  /** The newest registration of the address. */
  findEndpoint(baseUrl: string, application: string, url: string): Promise<WebhookEndpointRecord | null>;
  /** A registration has no Idempotency-Key: one claimant at a time asks the service, over all processes. */
  claimEndpoint(
    place: WebhookPlace,
    claim: { readonly claimant: string; readonly ttlMs: number },
  ): Promise<EndpointClaim>;
  keepEndpointClaim(place: WebhookPlace, claim: { readonly claimant: string; readonly ttlMs: number }): Promise<void>;
  /** `answered` false: the service may have registered the endpoint, and its answer is lost. */
  endEndpointClaim(place: WebhookPlace, end: { readonly claimant: string; readonly answered: boolean }): Promise<void>;
  /** Added to the earlier secrets: none is ever replaced, because its endpoint may still exist at the service. */
  saveEndpoint(endpoint: WebhookEndpointRecord, now: number): Promise<void>;
  /** Every secret of the application's registrations at this base address, newest first. */
  webhookSecrets(baseUrl: string, application: string): Promise<readonly string[]>;
}

// ---------------------------------------------------------------- breaker

export interface BreakerRecord {
  readonly baseUrl: string;
  readonly reason: Reason;
  readonly openedAt: number;
  readonly probeAfter: number;
}

/** An open breaker as it stands. */
export interface OpenBreaker extends BreakerRecord {
  /** Until then one caller probes; null: no caller does, or the probe has failed. */
  readonly probingUntil: number | null;
}

/** The circuit breaker of each base address, shared by all processes of the ledger. No record means closed. */
export interface BreakerLedger {
  breaker(baseUrl: string): Promise<OpenBreaker | null>;
  openBreaker(record: BreakerRecord): Promise<void>;
  closeBreaker(baseUrl: string): Promise<void>;
  /**
   * True for exactly one caller once `probeAfter` has come: it may send one request, and all others wait until `until`.
   */
  claimProbe(baseUrl: string, claim: { readonly now: number; readonly until: number }): Promise<boolean>;
}
