import type { Row, Statement } from './sql-session.ts';

/** What the main thread asks of the database's thread. */
export type PgliteRequest =
  | { readonly id: number; readonly kind: 'query'; readonly statement: Statement }
  | { readonly id: number; readonly kind: 'transaction'; readonly statements: readonly Statement[] }
  | { readonly id: number; readonly kind: 'close' };

/** What the database's thread answers, by the id of the request. */
export type PgliteReply =
  | { readonly id: number; readonly ok: true; readonly rows: readonly Row[] }
  | { readonly id: number; readonly ok: false; readonly message: string };
