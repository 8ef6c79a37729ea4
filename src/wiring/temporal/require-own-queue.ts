import { LoteError } from '../../domain/errors.ts';
import type { QueuePoller } from './queue-pollers.ts';

/** A worker polls at least once a minute: without a poll for longer than this, it has stopped. */
const WINDOW_MS = 90_000;
const POLL_INTERVAL_MS = 2_000;

export interface OwnQueue {
  readonly taskQueue: string;
  /** What this worker keeps. */
  readonly scope: string;
  readonly pollers: () => Promise<readonly QueuePoller[]>;
  readonly pause: (ms: number) => Promise<unknown>;
  readonly notify: (line: string) => void;
}

/**
 * Refuses a task queue on which a worker of another ledger or application polls: each would take the other's
 * activities, and refuse them. A worker that was killed stays listed for minutes, so one that does not poll again
 * within 90 s counts as gone. Advice only: the ledger's id in every activity's input is the authority.
 * @throws LoteError `ledger-foreign`
 */
export async function requireOwnQueue(queue: OwnQueue): Promise<void> {
  const first = await foreignPollers(queue);
  if (first.size === 0) return;
  queue.notify(
    `Task queue ${queue.taskQueue}: a worker of another ledger or application asked for work there; looking for 90 s whether it still does …`,
  );
  // By the server's own clock and by number of looks: the two machines' clocks need not agree.
  for (let waited = 0; waited < WINDOW_MS; waited += POLL_INTERVAL_MS) {
    await queue.pause(POLL_INTERVAL_MS);
    const now = await foreignPollers(queue);
    for (const [identity, lastPolledAt] of now) {
      if (lastPolledAt > (first.get(identity) ?? 0)) throw foreign(queue, identity);
    }
    if (now.size === 0) return;
  }
}

async function foreignPollers({ pollers, scope }: OwnQueue): Promise<Map<string, number>> {
  const foreign = (await pollers()).filter((poller) => poller.scope !== null && poller.scope !== scope);
  return new Map(foreign.map(({ identity, lastPolledAt }) => [identity, lastPolledAt]));
}

function foreign({ taskQueue, scope }: OwnQueue, identity: string): LoteError {
  return new LoteError(
    'ledger-foreign',
    `Starting a worker on task queue ${taskQueue}: all its workers must keep one ledger and one application, but "${identity}" works there and this one keeps ${scope}. ` +
      'Stop the other worker, or give this one a task queue of its own (LOTE_TASK_QUEUE).',
  );
}
