import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import { repeat, type Repetition } from '../../platform/repeat.ts';
import { LoteError } from '../../domain/errors.ts';
import type { TemporalConfig } from '../config/config.ts';
import type { Logger } from '../process/logger.ts';
import { type TemporalPlace, findNamespace, placeOf } from './temporal-connection.ts';

const ASK_EVERY_MS = 5_000;
const PATIENCE_MS = 3_000;

/** The certificate and key that this process read at its start, and the configuration for reading them again. */
export interface ReadAccess {
  readonly place: TemporalPlace;
  readonly temporal: TemporalConfig;
}

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
 * Logs once when Temporal or its namespace is lost, and once when it is back, because the SDK's own lines repeat for each call
 * and ignore namespaces. Calls `onLost` with `temporal-unavailable` when the server refuses this process's certificates or key
 * and their files have changed: a connection cannot take another certificate, so a supervisor must start the process again.
 */
export function watchTemporal(
  client: Client,
  access: ReadAccess,
  { log, onLost }: { readonly log: Pick<Logger, 'warn'>; readonly onLost: (error: LoteError) => void },
): Repetition {
  const { address } = access.place;
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
    // The server may answer "denied" to a revoked key, and also to a valid key with few rights.
    const isRefused = found === 'away' || found === 'denied';
    if (!isRefused || !(await isRenewed(access)) || stopped.aborted) return;
    onLost(
      new LoteError(
        'temporal-unavailable',
        `Working with Temporal at ${address}: it does not answer to the certificate or key that this process read when it started, and their files hold something else now. ` +
          'A process reads them once, so this one ends: start it again, unless its supervisor does so.',
      ),
    );
  });
}

/** Returns true if the files of certificates and key have changed since this process read them. */
async function isRenewed({ place, temporal }: ReadAccess): Promise<boolean> {
  if (place.address !== temporal.address) return false;
  try {
    const { profile, apiKeyFile } = temporal;
    const key = apiKeyFile === null ? {} : { apiKey: (await readFile(apiKeyFile, 'utf8')).trim() };
    return !isDeepStrictEqual(placeOf(place.address, { ...temporal, profile: { ...profile, ...key } }), place);
  } catch {
    return false;
  }
}
