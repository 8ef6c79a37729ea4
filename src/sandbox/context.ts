import type { Applications, Application } from './application.ts';
import type { Chance, Faults } from './faults.ts';
import type { Change } from './store.ts';

/** The state and functions that the parts of a sandbox share. */
export interface Context {
  readonly applications: Applications;
  readonly faults: Faults;
  readonly chance: Chance;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a new identifier with the prefix. If ids follow from the seed, the same `of` gives the same identifier. */
  readonly newId: (prefix: string, of?: string) => string;
  readonly log: SandboxLog;
  /** Makes the changes durable, then visible. */
  readonly commit: (changes: readonly Change[]) => Promise<void>;
  /** Waits as long as a far-away service would take. */
  readonly latency: () => Promise<void>;
}

/** The logger of the sandbox. The message is static, and the fields carry the details. */
export interface SandboxLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Logs nothing. */
export const NO_LOG: SandboxLog = { info() {}, warn() {}, error() {} };

/** Returns an error as a log field: its message and stack, without the fields in which drivers repeat their input. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Timers that can all be stopped at once. */
export type Alarms = ReturnType<typeof createAlarms>;

/** Creates timers with `setTimeout`. */
export function createAlarms() {
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  return {
    /** Calls `ring` once after the delay, unless `stop` is called first. */
    after(delayMs: number, ring: () => void): void {
      if (stopped) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        ring();
      }, delayMs);
      timers.add(timer);
    },
    /** Cancels all timers, and ignores every later call of `after`. */
    stop(): void {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** An authenticated request, with all data that an operation may read. */
export interface Call {
  readonly application: Application;
  /** The path as registered, such as `/v1/invoices`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The path's parameter, or an empty string. */
  readonly id: string;
  readonly idempotencyKey: string | null;
  /** The body as it was received, and its parsed value; absent in a GET. */
  readonly body: { readonly text: string; readonly sha256: string; readonly value: unknown };
}
