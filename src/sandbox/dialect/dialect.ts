import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../http/answer.ts';
import type { Found, Route } from '../http/routes.ts';
import type { Call } from '../operations/operation.ts';
import type { DeliveryRecord, WebhookRecord } from '../records.ts';
import type { Problem } from '../validation/field.ts';

/** The operation that a request asks for; `query` holds the parameters that the operation reads. */
export type Routed =
  | Exclude<Found, { kind: 'found' }>
  | (Extract<Found, { kind: 'found' }> & { query: URLSearchParams });

/** A request as far as its answer depends on it. */
export interface Asked {
  readonly url: URL;
  /** As the client calls the sandbox, such as `127.0.0.1:8092`. */
  readonly host: string;
  /** Null: no operation was reached. */
  readonly route: Route | null;
  /** Null: it was refused before it could be read. */
  readonly call: Call | null;
}

/** One delivery on its way. */
export interface Sealed {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How the sandbox writes and reads what goes over the wire. Its books and operations know only what is published. */
export interface Dialect {
  readonly findRoute: (method: string, url: URL) => Routed;
  /** Null: the headers are as they must be. */
  readonly refuseHead: (headers: IncomingHttpHeaders, route: Route) => Answer | null;
  /** A body as published, with what the address of an endpoint brought along; or what is wrong with it. */
  readonly readBody: (body: Call['body'], route: Route) => Pick<Call, 'body' | 'endpointSecret'> | Problem;
  readonly write: (answer: Answer, asked: Asked) => Answer;
  /** An identifier of the drawn bytes that begins with the prefix, or a fresh secret (`whsec_`); null: any will do. */
  readonly newId: ((prefix: string, drawn: Buffer) => string | null) | null;
  readonly seal: (webhook: WebhookRecord, delivery: DeliveryRecord) => Sealed;
}
