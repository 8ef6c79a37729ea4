import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import { namedInput } from '../temporal/named-input.ts';
import { GOES_ON, isPausedByLote } from './schedule-note.ts';

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
