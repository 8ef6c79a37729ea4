/** A refusal of the database that ends without a change to Lote: what was asked is asked again, with the same values. */
export interface PassingSqlState {
  /** A class (two characters) or a code (five) of SQLSTATE; a code stands before its class. */
  readonly sqlState: string;
  /** What was found, for the person who reads why a batch waits. */
  readonly found: string;
  /** What ends it. */
  readonly help: string;
  /** `drop`: the trouble belongs to the connection, or to the server behind it; a new connection may find another server. */
  readonly connection: 'keep' | 'drop';
}

const BY_ITSELF = 'nothing has to be done: it is repeated by itself';
const SEE_TO_SERVER = 'it is repeated by itself until the database server is back';
const MAKE_ROOM = 'make room there; it is repeated by itself until then';

/**
 * Which errors of the database pass, and why. Everything else (a constraint, a type, a syntax error, a missing table) is a
 * mistake of Lote's or a damaged schema: to repeat it would fail in the same way for ever.
 *
 * Damage (class XX001, XX002) does not heal, yet it stands here: the batch must wait for the operator who repairs or restores
 * the database. To fail instead would close pages with statements on the same damaged tables. `XX000` is not here: it is an
 * error inside the server that nobody foresaw.
 */
export const PASSING_SQLSTATES: readonly PassingSqlState[] = [
  row('08', 'drop', 'the connection failed', SEE_TO_SERVER),
  // After a failover the old primary answers so on connections that still live: a new one finds the new primary.
  row('25006', 'drop', 'the database is read-only', 'it is repeated by itself until the database takes writes again'),
  // The connection was left inside a transaction that had failed; a fresh one has none.
  row('25P02', 'drop', 'the connection holds a failed transaction', BY_ITSELF),
  row('25P03', 'drop', 'the server ended an idle transaction', BY_ITSELF),
  row('25P04', 'drop', 'the server ended a transaction that took too long', BY_ITSELF),
  // A pooler that changed servers, or does not keep prepared statements: they belong to the connection.
  row('26000', 'drop', 'a prepared statement is gone', 'a pooler must keep prepared statements'),
  row('42P05', 'drop', 'a prepared statement is there already', 'a pooler must keep prepared statements'),
  // Wrong at the start is a mistake; later a password is being replaced, and an operator ends it.
  row('28', 'drop', 'the database does not accept the user or the password', 'correct DATABASE_URL or the server'),
  // A database that is being restored is away for a while.
  row('3D000', 'drop', 'the database does not exist', 'correct DATABASE_URL or restore the database'),
  row('42501', 'keep', 'the database user may not do this', 'give the user its privileges back'),
  row('40001', 'keep', 'another transaction was faster', BY_ITSELF),
  row('40P01', 'keep', 'a deadlock was broken', BY_ITSELF),
  // Nobody knows whether the statement counted: every write may be repeated.
  row('40003', 'drop', 'the end of the statement is not known', BY_ITSELF),
  row('53100', 'keep', 'the disk of the database is full', MAKE_ROOM),
  row('53200', 'keep', 'the database server is out of memory', MAKE_ROOM),
  row('53300', 'drop', 'the server has too many connections', 'it is repeated by itself until one is free'),
  row('53', 'keep', 'the database server lacks a resource', MAKE_ROOM),
  row('55P03', 'keep', 'another transaction holds the lock', BY_ITSELF),
  row('57014', 'keep', 'the server cancelled the statement', BY_ITSELF),
  row('57P03', 'drop', 'the database server starts or stops', SEE_TO_SERVER),
  row('57', 'drop', 'the database server was stopped', SEE_TO_SERVER),
  row('58', 'keep', 'the database server cannot use its files', 'see to the disk of the database server'),
  row('72', 'keep', 'the snapshot is too old', BY_ITSELF),
  row('XX001', 'keep', 'the database is damaged', 'stop Lote, and repair or restore the database'),
  row('XX002', 'keep', 'an index of the database is damaged', 'rebuild the index (REINDEX)'),
];

const BY_STATE = new Map(PASSING_SQLSTATES.map((one) => [one.sqlState, one]));

/** The row of a code, else that of its class; null: the error does not pass. */
export function passingSqlState(sqlState: string): PassingSqlState | null {
  return BY_STATE.get(sqlState) ?? BY_STATE.get(sqlState.slice(0, 2)) ?? null;
}

function row(
  sqlState: string,
  connection: PassingSqlState['connection'],
  found: string,
  help: string,
): PassingSqlState {
  return { sqlState, connection, found, help };
}
