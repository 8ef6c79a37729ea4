import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';
import { passingSqlState } from './passing-sqlstates.ts';
import { statementLabel } from './statement-label.ts';

/** Two writers of one key: whoever repeats finds what the other one wrote. */
const UNIQUE_VIOLATION = '23505';

/**
 * The database refused a statement: `ledger-unavailable` when that passes (`passing-sqlstates.ts`), `ledger-race` when another
 * writer of the same key was faster, else `internal`. It carries the SQLSTATE and the
 * constraint's name, and neither message nor detail of the database: those repeat values (tax numbers, references), and an
 * error may end in a log or in Temporal's history.
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
