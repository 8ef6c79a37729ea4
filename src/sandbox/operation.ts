import type { Application } from './application.ts';
import type { Context } from './context.ts';
import type { Answer } from './http/answer.ts';
import type { Settlement } from './settlement.ts';

/** A request that has passed authentication, with everything that an operation may read. */
export interface Call {
  readonly application: Application;
  /** The path as registered, e.g. `/v1/invoices`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The path's parameter, or empty. */
  readonly id: string;
  readonly idempotencyKey: string | null;
  /** The body as it came, and what is in it; absent without a body. */
  readonly body: { readonly text: string; readonly sha256: string; readonly value: unknown };
}

/** What the operations of one sandbox share. */
export interface Services {
  readonly context: Context;
  readonly settlement: Settlement;
}

/** One operation of the published interface. */
export type Operation = (services: Services, call: Call) => Promise<Answer>;
