import type { Applications } from './application.ts';
import type { Chance, Faults } from './faults.ts';
import type { Change } from './store.ts';

/** What every part of one running sandbox shares. */
export interface Context {
  readonly applications: Applications;
  readonly faults: Faults;
  readonly chance: Chance;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** A fresh identifier that begins with the prefix; where ids follow from the seed, the same `of` brings the same one. */
  readonly newId: (prefix: string, of?: string) => string;
  readonly log: SandboxLog;
  /** Makes the changes durable, then visible. */
  readonly commit: (changes: readonly Change[]) => Promise<void>;
  readonly invoiceBody: (id: string) => Promise<string>;
  /** The delay that a far-away service would have. */
  readonly latency: () => Promise<void>;
}

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

/** Timers that can be stopped all at once. */
export interface Alarms {
  /** Calls back once, after the delay, unless all are stopped before. */
  after(delayMs: number, ring: () => void): void;
  /** None rings from now on, and none can be set any more. */
  stop(): void;
}

// setTimeout fires at once when it is given more.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Makes timers over `setTimeout`. A delay above its limit of 2^31 - 1 ms rings at that limit. */
export function createAlarms(): Alarms {
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  return {
    after(delayMs, ring) {
      if (stopped) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          ring();
        },
        Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS),
      );
      timers.add(timer);
    },
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
