/** PostgreSQL's classes begin with a digit, or are F0, HV, P0, XX. Node's `EPIPE` and `EBUSY` have five characters, too. */
const SQL_STATE = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;

/** Whether the code of an error is an answer of the database, and not one of the operating system. */
export function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && SQL_STATE.test(code);
}
