import type { Application } from './application.ts';
import type { Context } from './context.ts';
import type { Answer } from './http/answer.ts';
import type { Settlement } from './settlement.ts';

/** An authenticated request, with all data that an operation may read. */
export interface Call {
  readonly application: Application;
  /** The path as registered, such as `/v1/invoices`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The path's parameter, or an empty string. */
  readonly id: string;
  readonly idempotencyKey: string | null;
  /** The body as it was received, and its parsed value; absent in a GET. */
  readonly body: { readonly text: string; readonly sha256: string; readonly value: unknown };
}

/** The parts of one sandbox that its operations share. */
export interface Services {
  readonly context: Context;
  readonly settlement: Settlement;
}

/** One operation of the published interface. */
export type Operation = (services: Services, call: Call) => Promise<Answer>;
