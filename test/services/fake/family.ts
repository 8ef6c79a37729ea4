import type { Shape } from './body-shape.ts';
import { createHash } from 'node:crypto';

/** What the fake answers; a body is written as JSON, a text as it is, neither as nothing. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly text?: string;
}

export interface InvoiceContent {
  readonly merchantId: string;
  readonly customerName: string;
  readonly customerTaxId: string | null;
  readonly currency: string;
  readonly lines: readonly InvoiceLine[];
}

/** Quantity and price are the tokens of the request. */
export interface InvoiceLine {
  readonly description: string;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly taxCode: string;
}

export interface BookedInvoice {
  readonly number: number;
  readonly id: string;
  readonly key: string;
  readonly content: InvoiceContent;
  readonly status: 'processing' | 'issued' | 'failed';
  readonly failure: { readonly code: string; readonly message: string } | null;
}

export interface BookedMerchant {
  readonly number: number;
  readonly id: string;
  /** null: it was there before. */
  readonly key: string | null;
  readonly nif: string;
  readonly legalName: string;
  readonly email: string;
}

/** Why a request is not carried out, in no family's words. */
export interface Problem {
  readonly kind: 'refused' | 'mismatch' | 'too-fast' | 'trouble' | 'access' | 'not-found';
  readonly code: string;
  readonly message: string;
  /** Member of the body that is wrong. */
  readonly field: string;
}

export interface InvoiceEvent {
  readonly id: string;
  readonly number: number;
  readonly outcome: 'issued' | 'failed';
  readonly invoice: BookedInvoice;
}

/** One delivery before it is signed. */
export interface Delivery {
  readonly id: string;
  readonly events: readonly [InvoiceEvent, ...InvoiceEvent[]];
  /** As it was registered. */
  readonly url: string;
  readonly secret: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A delivery as it goes out. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a family writes what it sends: every path, body and header of requests as it must be. */
export interface Requests {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly createInvoice: { readonly path: string; readonly shape: Shape };
  /** Holds {id}. */
  readonly getInvoice: string;
  readonly createMerchant: { readonly path: string; readonly shape: Shape };
  readonly listMerchants: string;
  readonly registerWebhook: { readonly path: string; readonly shape: Shape };
}

export interface Answers {
  invoiceId(number: number): string;
  merchantId(number: number): string;
  created(invoice: BookedInvoice, origin: string): Reply;
  /** The same key with the same bytes again; left out: as the first time. */
  repeated?(invoice: BookedInvoice, origin: string): Reply;
  shown(invoice: BookedInvoice, origin: string): Reply;
  merchantCreated(merchant: BookedMerchant, origin: string): Reply;
  /** Left out: as the first time. */
  merchantRepeated?(merchant: BookedMerchant, origin: string): Reply;
  registered(endpoint: { readonly id: string; readonly url: string; readonly secret: string }): Reply;
  problem(problem: Problem): Reply;
}

/** What is asked of the list of merchants. */
export interface ListRequest {
  readonly query: URLSearchParams;
  /** Address of the list without query. */
  readonly address: string;
}

export interface Events {
  /** Events that may stand in one delivery; left out: one. */
  readonly most?: number;
  newSecret(): string;
  message(delivery: Delivery): Message;
}

/** One family of invoicing services: what the published interface leaves open, and the profile that says it. */
export interface Family {
  readonly name: string;
  /** What a user writes into the file of SERVICE_PROFILE. */
  readonly profile: unknown;
  /** Somebody registers the receiver by hand, under a secret that Lote is given; left out: Lote registers it. */
  readonly registersByHand?: true;
  readonly requests: Requests;
  readonly answers: Answers;
  list(merchants: readonly BookedMerchant[], request: ListRequest): Reply;
  /** null: the service sends none. */
  readonly events: Events | null;
}

/** Shares from 0 to 1 of what goes wrong; the key of a request decides, so that a run can be repeated. */
export interface Faults {
  /** Created, and the connection is cut instead of an answer. */
  readonly lostAnswers: number;
  readonly lostMerchantAnswers: number;
  /** The first try is answered as too fast, and nothing is created. */
  readonly tooFast: number;
  /** The first try of what will be accepted is answered with the service's own trouble, and nothing is created. */
  readonly trouble: number;
  /** Final before the answer to the POST, with its event delivered. */
  readonly earlyEvents: number;
  readonly repeatedEvents: number;
  readonly droppedEvents: number;
}

export const NO_FAULTS: Faults = {
  lostAnswers: 0,
  lostMerchantAnswers: 0,
  tooFast: 0,
  trouble: 0,
  earlyEvents: 0,
  repeatedEvents: 0,
  droppedEvents: 0,
};

/** Whether a fault meets what has this key. */
export function meets(faults: Faults, fault: keyof Faults, key: string): boolean {
  const number = createHash('sha256').update(`${fault} ${key}`).digest().readUInt32BE(0);
  return number / 2 ** 32 < faults[fault];
}
