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

/** The certificate and key that this process read at its start, and the configuration by which it reads them again. */
export interface ReadAccess {
  readonly place: TemporalPlace;
  readonly temporal: TemporalConfig;
}

/** One question, without the SDK's own patience. @throws whatever the connection says */
function askTemporal(client: Client): ReturnType<typeof findNamespace> {
  return client.connection.withDeadline(Date.now() + PATIENCE_MS, () => findNamespace(client));
}

/** One question to the server. @throws whatever the connection says, or LoteError `temporal-unavailable` without the namespace */
export async function queryTemporal(client: Client): Promise<void> {
  if ((await askTemporal(client)) === 'missing')
    throw new LoteError('temporal-unavailable', `Asking Temporal: it has no namespace ${client.options.namespace}.`);
}

const TROUBLE = {
  away: 'temporal does not answer; work stands still until it does',
  // Search attributes and schedules are made by a start.
  missing: 'temporal has no such namespace; work stands still: make it, then start this worker again',
} as const;

/**
 * Logs once when Temporal goes away, or loses the namespace, and once when it is back: the SDK's own lines repeat for each call, and it
 * logs nothing of a namespace. Calls `onLost` with `temporal-unavailable` when the server does not answer to the certificates or key that this process
 * read, and their files hold something else now: a connection cannot be given another certificate, so the process ends to be started again.
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
    // A key that was revoked may be told that it has no right, and so may a good one that has few.
    const isRefused = found === 'away' || found === 'denied';
    if (isRefused && (await isRenewed(access)) && !stopped.aborted) onLost(renewed(access.place));
  });
}

/** Whether the files of certificates and key hold something else than this process has read. */
async function isRenewed({ place, temporal }: ReadAccess): Promise<boolean> {
  if (place.address !== temporal.address) return false;
  try {
    const { profile, apiKeyFile } = temporal;
    const apiKey = apiKeyFile === null ? profile.apiKey : (await readFile(apiKeyFile, 'utf8')).trim();
    const now = { ...temporal, profile: { ...profile, ...(apiKey !== undefined && { apiKey }) } };
    return !isDeepStrictEqual(placeOf(place.address, now), place);
  } catch {
    return false;
  }
}

function renewed({ address }: TemporalPlace): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Working with Temporal at ${address}: it does not answer to the certificate or key that this process read when it started, and their files hold something else now. ` +
      'A process reads them once, so this one ends: start it again, unless its supervisor does so.',
  );
}
