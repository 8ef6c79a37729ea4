import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';

/** Two writers of one key: the one that repeats its statement finds what the other one wrote. */
const UNIQUE_VIOLATION = '23505';

/**
 * The database refused a statement: `ledger-unavailable` when that passes, `ledger-race` when another writer of the same key was faster, else `internal`.
 * It never carries message or detail of the database, which repeat values (tax numbers, references).
 */
export class StatementFailure extends LoteError {
  readonly sqlState: string;
  readonly constraint: string | null;

  constructor(text: string, sqlState: string, constraint: string | null) {
    const where = constraint === null ? '' : `, constraint "${constraint}"`;
    const passing = passingSqlState(sqlState);
    super(
      codeOf(sqlState, passing !== null),
      passing === null
        ? `Ledger statement "${statementName(text)}" was refused by the database: SQLSTATE ${sqlState}${where}`
        : `Using the ledger: ${passing.found} (SQLSTATE ${sqlState}, statement "${statementName(text)}"); nothing was acknowledged; ${passing.help}`,
    );
    this.name = 'StatementFailure';
    this.sqlState = sqlState;
    this.constraint = constraint;
  }
}

function codeOf(sqlState: string, passes: boolean): LoteErrorCode {
  if (passes) return 'ledger-unavailable';
  return sqlState === UNIQUE_VIOLATION ? 'ledger-race' : 'internal';
}

/** Unique key violated: another writer was faster, or the same key stands twice in one set. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof StatementFailure && error.sqlState === UNIQUE_VIOLATION;
}

/** Every statement of the ledger starts with a comment that holds its name; it shows in pg_stat_activity too. */
function statementName(text: string): string {
  return statementLabel(text) ?? text.trimStart().split(/\s/, 1)[0] ?? '';
}

/** PostgreSQL's classes begin with a digit, or are F0, HV, P0, XX. Node's `EPIPE` and `EBUSY` have five characters, too. */
const SQL_STATE = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;

/** Whether the code of an error is an answer of the database, and not one of the operating system. */
export function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && SQL_STATE.test(code);
}

/** The ledger's own statements begin with their name; they are constants, and few. */
const NAMED = /^\/\* (?<name>[a-z0-9-]+) \*\//;

const labels = new Map<string, string>();

/** The name that a statement of the ledger begins with; null for one that is not the ledger's own. */
export function statementLabel(text: string): string | null {
  const known = labels.get(text);
  if (known !== undefined) return known;
  const found = NAMED.exec(text)?.groups?.['name'];
  if (found === undefined) return null;
  labels.set(text, found);
  return found;
}

/** A refusal of the database that ends without a change to Lote: what was asked is asked again, with the same values. */
interface PassingSqlState {
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
 * Which errors of the database pass, and why. Any other (a constraint, a type, a missing table) is a mistake of Lote's or a damaged schema: a repeat would
 * fail for ever. Damage (XX001, XX002) stands here because the batch must wait for the operator who repairs the database.
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
  // A restore makes the unique indexes last.
  row('42P10', 'keep', 'a unique index is missing', 'it is repeated by itself until the restore has made it'),
  // Wrong at the start is a mistake; later a password is being replaced, and an operator ends it.
  row('28', 'drop', 'the database does not accept the user or the password', 'correct DATABASE_URL or the server'),
  // A database that is being restored is away for a while.
  row('3D000', 'drop', 'the database does not exist', 'correct DATABASE_URL or restore the database'),
  row('42501', 'keep', 'the database user may not do this', 'give the user its privileges back'),
  row('40001', 'keep', 'another transaction was faster', BY_ITSELF),
  row('40P01', 'keep', 'a deadlock was broken', BY_ITSELF),
  // It is not known whether the statement counted: every write may be repeated.
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
