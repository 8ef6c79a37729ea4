import type { DropPoint } from './drop-point.ts';

/** Options of the drop folder. `stableMs` is milliseconds; `pause` waits, also in milliseconds. */
export interface DropFolderOptions {
  readonly inputDir: string;
  /** The setting that names it, for messages. */
  readonly setting: string;
  /** Id of the ledger: what a night of another one has claimed is not taken over. */
  readonly ledgerId: string;
  /** A file whose size and time stay the same for this long is complete. */
  readonly stableMs: number;
  /** Take only files with a `.done` marker beside them. */
  readonly marker: boolean;
  readonly pause: (ms: number) => Promise<void>;
  /** Called between any two steps on the disk; a test ends the process there. */
  readonly at: (point: DropPoint) => Promise<void>;
}
