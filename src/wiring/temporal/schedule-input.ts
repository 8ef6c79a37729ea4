import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import { namedInput } from './named-input.ts';

/**
 * Lets a schedule that was made before start its runs with the name of the application where there are several, and
 * without one where it is alone: a run with the wrong input is refused, or waits on a task queue that nobody polls.
 * Everything else of the schedule stays. Where there is none, nothing happens.
 */
export async function bringInput(
  client: Client,
  scheduleId: string,
  place: Parameters<typeof namedInput>[0],
): Promise<void> {
  const handle = client.schedule.getHandle(scheduleId);
  try {
    const { action } = await handle.describe();
    const wanted = namedInput(place);
    const { application, ...unnamed } = asObject(action.args?.[0]);
    if (application === wanted.application) return;
    await handle.update((known) => ({ ...known, action: { ...known.action, args: [{ ...unnamed, ...wanted }] } }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

function asObject(value: unknown): { readonly application?: unknown } {
  return typeof value === 'object' && value !== null ? value : {};
}
