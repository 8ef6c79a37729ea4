import type { Client } from '@temporalio/client';
import { repeat, type Repetition } from '../../platform/repeat.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Logger } from '../process/logger.ts';
import { findNamespace } from './temporal-connection.ts';

const ASK_EVERY_MS = 5_000;
const PATIENCE_MS = 3_000;

/** Asks once for the namespace, without the SDK's own retries. @throws the connection's error */
function askTemporal(client: Client): ReturnType<typeof findNamespace> {
  return client.connection.withDeadline(Date.now() + PATIENCE_MS, () => findNamespace(client));
}

/** @throws the connection's error, or LoteError `temporal-unavailable` without the namespace */
export async function queryTemporal(client: Client): Promise<void> {
  if ((await askTemporal(client)) === 'missing')
    throw new LoteError('temporal-unavailable', `Asking Temporal: it has no namespace ${client.options.namespace}.`);
}

const TROUBLE = {
  away: 'temporal does not answer; work stands still until it does',
  // A start creates search attributes and schedules.
  missing: 'temporal has no such namespace; work stands still: make it, then start this worker again',
} as const;

/**
 * Logs once when Temporal or its namespace is lost, and once when it is back, because the SDK's own lines repeat for each
 * call and ignore namespaces.
 */
export function watchTemporal(client: Client, address: string, log: Pick<Logger, 'warn'>): Repetition {
  let trouble: { readonly kind: keyof typeof TROUBLE; readonly since: number } | null = null;
  return repeat(ASK_EVERY_MS, async (stopped) => {
    const found = await askTemporal(client).catch(() => 'away' as const);
    if (stopped.aborted) return;
    if (found === 'away' || found === 'missing') {
      if (trouble?.kind !== found) log.warn(TROUBLE[found], { address, namespace: client.options.namespace });
      trouble = { kind: found, since: trouble?.since ?? Date.now() };
    } else if (trouble !== null) {
      log.warn('temporal answers again', { address, awaySeconds: Math.round((Date.now() - trouble.since) / 1_000) });
      trouble = null;
    }
  });
}
