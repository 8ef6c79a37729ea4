import type { Client } from '@temporalio/client';
import { repeat, type Repetition } from '../../concurrency/repeat.ts';
import { LoteError } from '../../domain/errors.ts';
import { hasNamespace } from './connect-client.ts';

const ASK_EVERY_MS = 5_000;
const PATIENCE_MS = 3_000;

interface WatchLog {
  warn(message: string, fields?: Record<string, unknown>): void;
}

/** Whether the server has the client's namespace: one question, without the SDK's own patience. @throws whatever the connection says */
function askTemporal(client: Client): Promise<boolean> {
  return client.connection.withDeadline(Date.now() + PATIENCE_MS, () => hasNamespace(client));
}

/** One question to the server. @throws whatever the connection says, or LoteError `temporal-unavailable` without the namespace */
export async function queryTemporal(client: Client): Promise<void> {
  if (!(await askTemporal(client)))
    throw new LoteError('temporal-unavailable', `Asking Temporal: it has no namespace ${client.options.namespace}.`);
}

const TROUBLE = {
  away: 'temporal does not answer; work stands still until it does',
  // Search attributes and schedules are made by a start.
  'without namespace': 'temporal has no such namespace; work stands still: make it, then start this worker again',
} as const;

interface Trouble {
  readonly kind: keyof typeof TROUBLE;
  /** Epoch milliseconds. */
  readonly since: number;
}

/**
 * Says once when Temporal goes away, or loses the namespace, and once when it is back: the SDK's own lines repeat for each call, and it says nothing at
 * all of a namespace.
 */
export function watchTemporal(client: Client, address: string, log: WatchLog): Repetition {
  let trouble = null as Trouble | null;
  return repeat(ASK_EVERY_MS, async (stopped) => {
    const kind = await askTemporal(client).then(
      (isThere) => (isThere ? null : 'without namespace'),
      () => 'away' as const,
    );
    if (stopped.aborted) return;
    if (kind !== null && kind !== trouble?.kind) {
      trouble = { kind, since: trouble?.since ?? Date.now() };
      log.warn(TROUBLE[kind], { address, namespace: client.options.namespace });
    }
    if (kind === null && trouble !== null) {
      log.warn('temporal answers again', { address, awaySeconds: Math.round((Date.now() - trouble.since) / 1_000) });
      trouble = null;
    }
  });
}
