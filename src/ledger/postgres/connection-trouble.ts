import { LoteError } from '../../domain/errors.ts';
import { StatementFailure } from '../statement-failure.ts';

const SQL_STATE = /^[0-9A-Z]{5}$/;

/** Serialization failure and deadlock: the loser is asked to try again. */
const RETRY = new Set(['40001', '40P01']);

/** Out of connections, shut down, starting up: the server speaks, but cannot serve. */
const UNAVAILABLE = new Set(['53300', '57P01', '57P02', '57P03']);

/** Class 08 (connection) and 28 (who are you) of SQLSTATE. */
const UNAVAILABLE_CLASS = /^(?:08|28)/;

export function asksForRetry(error: unknown): boolean {
  return error instanceof StatementFailure && RETRY.has(error.sqlState);
}

/**
 * What pg threw, in Lote's words. Without an SQLSTATE it never was an answer of the database: the connection failed.
 * The cause is left out on purpose: it may repeat the address, its password, or the values of a row.
 */
export function translateFailure(error: unknown, text: string): LoteError {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  if (error instanceof LoteError) return error;
  if (typeof code === 'string' && SQL_STATE.test(code)) {
    if (UNAVAILABLE.has(code) || UNAVAILABLE_CLASS.test(code)) return unavailable(`SQLSTATE ${code}`);
    return new StatementFailure(text, code, typeof constraint === 'string' ? constraint : null);
  }
  return unavailable(typeof code === 'string' ? code : 'connection lost');
}

function unavailable(found: string): LoteError {
  return new LoteError(
    'ledger-unavailable',
    `Using the PostgreSQL ledger: expected an open connection, found ${found}; nothing was acknowledged; check DATABASE_URL and the server`,
  );
}
