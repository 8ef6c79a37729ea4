import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import { namedInput } from '../temporal/named-input.ts';

/** Note of a schedule that Lote has paused because nobody describes its application. */
export const NO_FILE = 'Paused by Lote: no file in applications/ describes the application that it is for';

/** Note of a schedule that Lote has paused because its task queue works for an application of another name now. */
export const OTHER_APPLICATION = 'Paused by Lote: its task queue works for another application now';

/** Note of a schedule that Lote has let go on after that. */
const GOES_ON = 'Its application is described.';

/** Note of each schedule of reconciliation. */
export const RECONCILES =
  'Repeats unknown invoices, polls pending ones, rewrites the reports that late answers changed.';

/** Whether nobody but Lote has written to it: an operator who pauses a schedule leaves another note. */
export function isNoteOfLote(note: string | null | undefined): boolean {
  return note === RECONCILES || note === GOES_ON || isPausedByLote(note);
}

/** Whether Lote paused it, and lets it go on by itself when its application is back. */
export function isPausedByLote(note: string | null | undefined): boolean {
  return [NO_FILE, OTHER_APPLICATION].some((begin) => note?.startsWith(begin) === true);
}

/**
 * Lets a schedule that was made before start its runs with the name of the application where there are several, and
 * without one where it is alone: a run with the wrong input is refused, or waits on a task queue that nobody polls.
 * One that Lote paused while its application was away goes on; any other pause stays, and everything else of the
 * schedule. Where there is none, nothing happens; nor where it starts its runs on another task queue, because there another installation may work on them.
 */
export async function bringInput(
  client: Client,
  scheduleId: string,
  place: Parameters<typeof namedInput>[0] & { readonly taskQueue: string },
): Promise<void> {
  const handle = client.schedule.getHandle(scheduleId);
  try {
    const { action, state } = await handle.describe();
    if (action.taskQueue !== place.taskQueue) return;
    const wanted = namedInput(place);
    const { application, ...unnamed } = asObject(action.args?.[0]);
    if (application !== wanted.application)
      await handle.update((known) => ({ ...known, action: { ...known.action, args: [{ ...unnamed, ...wanted }] } }));
    if (state.paused && isPausedByLote(state.note)) await handle.unpause(GOES_ON);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

function asObject(value: unknown): { readonly application?: unknown } {
  return typeof value === 'object' && value !== null ? value : {};
}
