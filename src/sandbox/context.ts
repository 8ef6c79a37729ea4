import type { Applications } from './application.ts';
import type { Chance } from './chance.ts';
import type { Faults } from './faults.ts';
import type { SandboxLog } from './sandbox-log.ts';
import type { Change } from './store/sandbox-store.ts';

/** What every part of one running sandbox shares. */
export interface Context {
  readonly applications: Applications;
  readonly faults: Faults;
  readonly chance: Chance;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** A fresh identifier that begins with the prefix; where ids follow from the seed, the same `of` brings the same one. */
  readonly newId: (prefix: string, of?: string) => string;
  readonly log: SandboxLog;
  /** Makes the changes durable, then visible. */
  readonly commit: (changes: readonly Change[]) => Promise<void>;
  readonly invoiceBody: (id: string) => Promise<string>;
  /** The delay that a far-away service would have. */
  readonly latency: () => Promise<void>;
}
