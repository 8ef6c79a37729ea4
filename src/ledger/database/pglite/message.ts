import type { SqlValue } from '../database.ts';

/** The protocol between Lote's main thread and the thread that PGlite runs in: a batch of queries in, their results out. */
export interface ThreadRequest {
  readonly id: number;
  /** Run in order, each by itself; null: close the database and leave. */
  readonly queries: readonly ThreadQuery[] | null;
}

/** One query of a batch of queries. */
export interface ThreadQuery {
  readonly text: string;
  readonly params: readonly SqlValue[];
}

/** Result of one query. `refused` has the SQLSTATE of the database; `constraint` is null where the error names none. */
export type ThreadResult =
  | { readonly kind: 'rows'; readonly rows: readonly object[] }
  | { readonly kind: 'refused'; readonly sqlState: string; readonly constraint: string | null }
  /** Not an answer of the database but the end of it. */
  | { readonly kind: 'broken'; readonly error: string };

/** The results of one `ThreadRequest`, by its `id`. */
export interface ThreadReply {
  readonly id: number;
  readonly results: readonly ThreadResult[];
}

/** Sent once, with id 0, when the database is open or could not be opened. */
export const OPENED = 0;
