import { LoteError } from '../../../domain/errors.ts';
import { passingSqlState } from '../passing-sqlstates.ts';
import { isSqlState } from '../sql-state.ts';
import { StatementFailure } from '../statement-failure.ts';

/** Serialization failure and deadlock: the loser is asked to try again. */
const RETRY = new Set(['40001', '40P01']);

/** The server answers, but does not serve yet, or not any more: starting, stopping, changing roles, too many connections. */
const TOO_MANY = '53300';
const NOT_YET = new Set(['57P01', '57P02', '57P03', '25006', TOO_MANY]);

/** True for a serialization failure and a deadlock: the same statement or transaction may be run again. */
export function asksForRetry(error: unknown): boolean {
  return error instanceof StatementFailure && RETRY.has(error.sqlState);
}

/** Whether a server that has just answered so is likely to serve within seconds. */
export function isNotReadyYet(error: unknown): boolean {
  return error instanceof StatementFailure && NOT_YET.has(error.sqlState);
}

/** Whether the server has no connection to spare: for everybody, this user or this database. */
export function lacksConnection(error: unknown): boolean {
  return error instanceof StatementFailure && error.sqlState === TOO_MANY;
}

/** Whether the trouble may end with the connection: then it, and every one that is as old, is replaced by a new one. */
export function belongsToConnection(error: unknown): boolean {
  if (error instanceof StatementFailure) return passingSqlState(error.sqlState)?.connection === 'drop';
  return error instanceof LoteError && error.code === 'ledger-unavailable';
}

/**
 * What pg threw, in Lote's words. Without an SQLSTATE it never was an answer of the database: the connection failed.
 * The cause is left out on purpose: it may repeat the address, its password, or the values of a row.
 */
export function translateFailure(error: unknown, text: string): LoteError {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  if (error instanceof LoteError) return error;
  if (isSqlState(code)) return new StatementFailure(text, code, typeof constraint === 'string' ? constraint : null);
  return unavailable(typeof code === 'string' ? code : foundIn(error));
}

/** What the driver says without a code, and what would never pass by itself. */
const REFUSED_BY_DRIVER: readonly (readonly [text: string, found: string])[] = [
  ['does not support SSL', 'a server without TLS, which sslmode in DATABASE_URL asks for'],
  ['client password must be a', 'a server that asks for a password, and none in DATABASE_URL or PGPASSWORD'],
];

function foundIn(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  return REFUSED_BY_DRIVER.find(([text]) => message.includes(text))?.[1] ?? 'connection lost';
}

function unavailable(found: string): LoteError {
  return new LoteError(
    'ledger-unavailable',
    `Using the PostgreSQL ledger: expected an open connection, found ${found}; nothing was acknowledged; check DATABASE_URL and the server`,
  );
}
