import { LoteError } from '../domain/errors.ts';
import { passingSqlState } from './passing-sqlstates.ts';

const NAME = /^\/\* ([a-z-]+) \*\//;

/**
 * The database refused a statement: `ledger-unavailable` when that passes (`passing-sqlstates.ts`), else `internal`. It carries the SQLSTATE and the
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
      passing === null ? 'internal' : 'ledger-unavailable',
      passing === null
        ? `Ledger statement "${statementName(text)}" was refused by the database: SQLSTATE ${sqlState}${where}`
        : `Using the ledger: ${passing.found} (SQLSTATE ${sqlState}, statement "${statementName(text)}"); nothing was acknowledged; ${passing.help}`,
    );
    this.name = 'StatementFailure';
    this.sqlState = sqlState;
    this.constraint = constraint;
  }
}

/** Unique key violated: another writer was faster, or the same key stands twice in one set. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof StatementFailure && error.sqlState === '23505';
}

/** Every statement of the ledger starts with a comment that holds its name; it shows in pg_stat_activity too. */
function statementName(text: string): string {
  return NAME.exec(text)?.[1] ?? text.trimStart().split(/\s/, 1)[0] ?? '';
}
