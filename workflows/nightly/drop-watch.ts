import { condition, isCancellation, log } from '@temporalio/workflow';
import type { FileEnd } from '../../activities/nightly/nightly-note.ts';
import type { DroppedFile, OpenedNightlyRun } from '../../activities/nightly/nightly.ts';
import { activities } from '../activities.ts';
import { growingWait, waitAtMost } from '../wait-at-most.ts';

const { waitingDrops } = activities;

/** Each batch sends four pages at a time; more batches at once would only wait for each other. */
const FILES_AT_ONCE = 16;
const FIRST_LOOK_MS = 1_000;

/** Keeps the dropped files of a night whose batches run, and looks up which of them wait for a person. */
export function createDropWatch({ patienceMs, ...scope }: OpenedNightlyRun) {
  const open = new Map<string, DroppedFile>();
  /** What each file waits for, and since which look. */
  let waits: ReadonlyMap<string, { readonly end: FileEnd; readonly since: number }> = new Map();
  let isOver = false;
  const going = (): number => [...open.keys()].filter((slot) => !waits.has(slot)).length;
  const watching = watchDrops().catch((error: unknown) => {
    if (!isCancellation(error)) log.warn('the night does not see any more which batches wait for a person');
  });

  async function watchDrops(): Promise<void> {
    for (const nextWait = growingWait({ firstMs: FIRST_LOOK_MS }); ;) {
      await waitAtMost(nextWait(), { summary: 'until the next look at waiting batches', until: () => isOver });
      if (isOver) return;
      const files = [...open.values()].map(({ slot, sha256 }) => ({ slot, sha256 }));
      const found = await waitingDrops({ ...scope, files });
      waits = new Map(found.map(({ slot, end }) => [slot, { end, since: waits.get(slot)?.since ?? Date.now() }]));
    }
  }

  /** A pause may end, so the night waits as long for its end as for an incomplete file. */
  function isLeft(slot: string): boolean {
    const wait = waits.get(slot);
    return wait !== undefined && (wait.end.kind === 'held' || Date.now() - wait.since >= patienceMs);
  }

  return {
    /** Waits until fewer than `FILES_AT_ONCE` files run. A file that waits for a person does not count. */
    async begin(file: DroppedFile): Promise<void> {
      await condition(() => going() < FILES_AT_ONCE);
      open.set(file.slot, file);
    },
    /** Resolves when the night continues without the file, because its batch waits for a person. */
    async left({ slot }: DroppedFile): Promise<FileEnd> {
      await condition(() => isLeft(slot));
      return waits.get(slot)?.end as FileEnd;
    },
    over: ({ slot }: DroppedFile) => void open.delete(slot),
    async end(): Promise<void> {
      isOver = true;
      await watching;
    },
  };
}
