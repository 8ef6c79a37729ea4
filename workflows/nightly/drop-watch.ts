import { condition, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { FileEnd } from '../../activities/nightly/nightly-note.ts';
import type { DroppedFile, NightlyScope } from '../../activities/nightly/nightly.ts';
import * as options from '../activity-options.ts';
import { growingWait, waitAtMost } from '../wait-at-most.ts';

const { waitingDrops } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'which batches wait for a person',
});

/** Each batch sends four pages at a time; more batches at once only wait for each other. */
const FILES_AT_ONCE = 16;
const FIRST_LOOK_MS = 1_000;

/** Knows the files of a night that are under way, and which of them wait for a person. */
export interface DropWatch {
  /** Waits for one of the places of the night. A file that waits for a person uses none. */
  begin(file: DroppedFile): Promise<void>;
  /**
   * Resolves when the night continues without the file: its total must be confirmed, or it is paused and no other file
   * is left to wait for. A pause may end before that.
   */
  left(file: DroppedFile): Promise<FileEnd>;
  over(file: DroppedFile): void;
  /** No further file will come. */
  leaveRest(): void;
  /** Ends the watch. */
  end(): Promise<void>;
}

/** Watches the dropped files of a night until each is complete or its time is over. */
export function createDropWatch(scope: NightlyScope): DropWatch {
  const open = new Map<string, DroppedFile>();
  let waits: ReadonlyMap<string, FileEnd> = new Map();
  let expected = 0;
  let isLast = false;
  let isOver = false;
  /** True after a look that began when no other file was left: an older one may have missed a resumption. */
  let isSeenLast = false;
  const going = (): number => [...open.keys()].filter((slot) => !waits.has(slot)).length;
  const isElseOver = (): boolean => isLast && open.size > 0 && expected + going() === 0;
  const watching = watchDrops().catch((error: unknown) => {
    if (!isCancellation(error)) log.warn('the night does not see any more which batches wait for a person');
  });

  async function watchDrops(): Promise<void> {
    for (const nextWait = growingWait({ firstMs: FIRST_LOOK_MS }); ;) {
      await waitAtMost(nextWait(), {
        summary: 'until the next look at waiting batches',
        until: () => isOver || (isElseOver() && !isSeenLast),
      });
      if (isOver) return;
      const isLastLook = isElseOver();
      const files = [...open.values()].map(({ slot, sha256 }) => ({ slot, sha256 }));
      waits = new Map((await waitingDrops({ ...scope, files })).map(({ slot, end }) => [slot, end]));
      isSeenLast = isLastLook && isElseOver();
    }
  }

  return {
    async begin(file) {
      expected += 1;
      await condition(() => going() < FILES_AT_ONCE);
      expected -= 1;
      open.set(file.slot, file);
    },
    async left({ slot }) {
      await condition(() => waits.get(slot)?.kind === 'held' || (waits.has(slot) && isSeenLast));
      return waits.get(slot) as FileEnd;
    },
    over: ({ slot }) => void open.delete(slot),
    leaveRest: () => void (isLast = true),
    async end() {
      isOver = true;
      await watching;
    },
  };
}
