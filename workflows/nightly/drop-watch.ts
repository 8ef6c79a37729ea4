import { condition, isCancellation, log } from '@temporalio/workflow';
import type { FileEnd } from '../../activities/nightly/nightly-note.ts';
import type { DroppedFile, NightlyScope } from '../../activities/nightly/nightly.ts';
import { activities } from '../activities.ts';
import { growingWait, waitAtMost } from '../wait-at-most.ts';

const { waitingDrops } = activities;

/** Each batch sends four pages at a time; more batches at once would only wait for each other. */
const FILES_AT_ONCE = 16;
const FIRST_LOOK_MS = 1_000;

/** Keeps the dropped files of a night whose batches run, and looks up which of them wait for a person. */
export function createDropWatch(scope: NightlyScope) {
  const open = new Map<string, DroppedFile>();
  let waits: ReadonlyMap<string, FileEnd> = new Map();
  let expected = 0;
  let isLast = false;
  let isOver = false;
  /** True after a look that began when every open file waited for a person. An earlier look may have missed a resumption. */
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
    /** Waits until fewer than `FILES_AT_ONCE` files run. A file that waits for a person does not count. */
    async begin(file: DroppedFile): Promise<void> {
      expected += 1;
      await condition(() => going() < FILES_AT_ONCE);
      expected -= 1;
      open.set(file.slot, file);
    },
    /**
     * Resolves when the night continues without the file: its total must be confirmed, or it is paused and all other
     * files are done or wait, too. Before that, the night waits, because the pause may end.
     */
    async left({ slot }: DroppedFile): Promise<FileEnd> {
      await condition(() => waits.get(slot)?.kind === 'held' || (waits.has(slot) && isSeenLast));
      return waits.get(slot) as FileEnd;
    },
    over: ({ slot }: DroppedFile) => void open.delete(slot),
    /** Says that no further file will come. */
    leaveRest: () => void (isLast = true),
    async end(): Promise<void> {
      isOver = true;
      await watching;
    },
  };
}
