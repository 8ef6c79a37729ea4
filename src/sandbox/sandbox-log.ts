/** What the sandbox asks of a logger: a static message and fields beside it. */
export interface SandboxLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Says nothing. */
export const NO_LOG: SandboxLog = { info() {}, warn() {}, error() {} };

/** An error as a log field: its text and place, and not the fields in which drivers quote what they were given. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
