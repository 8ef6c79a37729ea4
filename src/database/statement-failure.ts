import { LoteError, type LoteErrorCode } from '../domain/errors.ts';

/** Two writers wrote the same key: a writer that repeats its statement finds the other's row. */
const UNIQUE_VIOLATION = '23505';

/**
 * The database refused a statement: `ledger-unavailable` for a passing error, `ledger-race` when another writer of the same key was faster, otherwise
 * `internal`. It never contains the database's message or detail, which repeat values (tax numbers, references).
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
        : `Using the ledger: ${passing.found} (SQLSTATE ${sqlState}, statement "${statementName(text)}"); nothing was acknowledged; it is repeated by itself until that ends`,
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

/** Returns true for a violated unique key: another writer was faster, or one set contains the same key twice. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof StatementFailure && error.sqlState === UNIQUE_VIOLATION;
}

/** Every statement of the ledger starts with a comment that contains its name; pg_stat_activity shows it too. */
function statementName(text: string): string {
  return statementLabel(text) ?? text.trimStart().split(/\s/, 1)[0] ?? '';
}

/** PostgreSQL's classes begin with a digit, or are F0, HV, P0, XX. Node's `EPIPE` and `EBUSY` also have five characters. */
const SQL_STATE = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;

/** Returns true if an error code comes from the database and not from the operating system. */
export function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && SQL_STATE.test(code);
}

/** The ledger's own statements begin with their name; they are constants, and few. */
const NAMED = /^\/\* (?<name>[a-z0-9-]+) \*\//;

const labels = new Map<string, string>();

/** Returns the name at the start of a ledger statement, or null if the statement is not the ledger's own. */
export function statementLabel(text: string): string | null {
  const known = labels.get(text);
  if (known !== undefined) return known;
  const found = NAMED.exec(text)?.groups?.['name'];
  if (found === undefined) return null;
  labels.set(text, found);
  return found;
}

/** A refusal that ends without a change to Lote: Lote repeats the statement with the same values. */
interface PassingSqlState {
  /** A class (two characters) or a code (five) of SQLSTATE; a code comes before its class. */
  readonly sqlState: string;
  /** `drop`: the error belongs to the connection or its server; a new connection may find another server. */
  readonly connection: 'keep' | 'drop';
  /** The cause, and what a person can do about it, for a person who reads why a batch waits. */
  readonly found: string;
}

const POOLER = 'a pooler does not keep prepared statements';
const BUSY = 'another transaction was in the way';

/**
 * Database errors that pass, and why. Any other error (a constraint, a type, a missing table) is a mistake of Lote or a damaged schema: a repeat would always
 * fail. Damage (XX001, XX002) is in the list because the batch must wait for the operator who repairs the database.
 */
export const PASSING_SQLSTATES: readonly PassingSqlState[] = (
  [
    ['08', 'drop', 'the connection failed'],
    // After a failover the old primary gives this answer on its open connections; a new connection finds the new primary.
    ['25006', 'drop', 'the database is read-only'],
    // The connection was left in a failed transaction; a new connection has none.
    ['25P02', 'drop', 'the connection holds a failed transaction'],
    ['25P03', 'drop', 'the server ended an idle transaction'],
    ['25P04', 'drop', 'the server ended a transaction that took too long'],
    // A pooler changed servers, or does not keep prepared statements, which belong to the connection.
    ['26000', 'drop', POOLER],
    ['42P05', 'drop', POOLER],
    // A restore makes the unique indexes last.
    ['42P10', 'keep', 'a unique index is missing until the restore has made it'],
    // At the start this error is a mistake. Later it means that the password is being replaced, and an operator ends it.
    ['28', 'drop', 'the database does not accept the user or the password of DATABASE_URL'],
    // The database is absent for a while during a restore.
    ['3D000', 'drop', 'the database of DATABASE_URL does not exist'],
    ['42501', 'keep', 'the database user lacks its privileges'],
    ['40001', 'keep', BUSY],
    ['40P01', 'keep', BUSY],
    // It is unknown whether the statement was committed, but Lote may repeat every write.
    ['40003', 'drop', 'the end of the statement is not known'],
    ['53100', 'keep', 'the disk of the database is full: make room there'],
    ['53300', 'drop', 'the server has too many connections'],
    ['53', 'keep', 'the database server lacks memory or another resource'],
    ['55P03', 'keep', BUSY],
    ['57014', 'keep', 'the server cancelled the statement'],
    ['57', 'drop', 'the database server starts or stops'],
    ['58', 'keep', 'the database server cannot use its files'],
    ['72', 'keep', 'the snapshot is too old'],
    ['XX001', 'keep', 'the database is damaged: stop Lote, and repair or restore the database'],
    ['XX002', 'keep', 'an index of the database is damaged: rebuild it (REINDEX)'],
  ] as const
).map(([sqlState, connection, found]) => ({ sqlState, connection, found }));

const BY_STATE = new Map(PASSING_SQLSTATES.map((one) => [one.sqlState, one]));

/** Returns the row of a code or of its class, or null if the error does not pass. */
export function passingSqlState(sqlState: string): PassingSqlState | null {
  return BY_STATE.get(sqlState) ?? BY_STATE.get(sqlState.slice(0, 2)) ?? null;
}
