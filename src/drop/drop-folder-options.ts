import type { DropPoint } from './drop-point.ts';

export interface DropFolderOptions {
  readonly inputDir: string;
  /** A file whose size and time stay the same for this long is complete. */
  readonly stableMs: number;
  /** Take only files with a `.done` marker beside them. */
  readonly marker: boolean;
  readonly pause: (ms: number) => Promise<void>;
  /** Told between any two steps on the disk. */
  readonly at: (point: DropPoint) => Promise<void>;
}
