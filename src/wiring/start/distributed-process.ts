import { LoteError } from '../../domain/errors.ts';
import type { Installation } from '../../runtime/config/installation.ts';
import { dataDirAt } from '../../runtime/data-dir/data-dir.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { readProfiles } from '../account/read-profiles.ts';
import { logMisfits } from '../profile-fit/misfit-log.ts';
import { connectClient, placeOf } from '../temporal/connect-client.ts';
import { openEach, type OpenApplication } from './open-applications.ts';
import { openSharedCore } from './process-core.ts';
import type { StartedParts } from './stop-in-reverse.ts';

/** A process that listens. */
export interface ListeningProcess {
  readonly url: string;
  /** Where the metrics are served; null: nowhere. */
  readonly metricsUrl: string | null;
  /** See `TemporalWatch`. */
  readonly lost: Promise<never>;
  stop(): Promise<void>;
}

interface Starting {
  /** To it everything is added that must be stopped. */
  readonly parts: StartedParts;
  readonly log: Logger;
}

/** The shared ledger, each application with its service, and Temporal. */
export async function openShared(
  { common: config, applications: configs }: Installation,
  role: 'worker' | 'receiver',
  { parts, log }: Starting,
) {
  const { temporal } = config;
  if (temporal.address === null || configs.some(({ service }) => service.kind !== 'remote'))
    throw new LoteError(
      'configuration-invalid',
      'Starting a process of its own: INVOICING_BASE_URL and TEMPORAL_ADDRESS must both be set, and they are not.',
    );
  const profiled = readProfiles(configs);
  const notify = (line: string): void => log.info(line);
  const owned = { config, dataDir: dataDirAt(config.dataDir), parts, notify, log };
  // The server is not ours to end.
  const core = await openSharedCore(owned, () => undefined, role);
  const { applications } = await openEach(core, profiled, { unsendable: role === 'worker' ? 'log' : 'ignore' });
  const place = await placeOf(temporal.address, temporal);
  const client = await connectClient(place, temporal.namespace);
  parts.add('temporal', () => client.connection.close());
  return { core, applications, client, place };
}

/** Writes into the log what does not fit the service profile of each application. */
export function logMisfitsOf(applications: readonly OpenApplication[], parts: StartedParts): void {
  for (const { core, service } of applications) {
    const misfits = logMisfits({ ...core, service });
    parts.add('log of misfits', () => misfits.stop());
  }
}

/** Stops what was started when a later part cannot start. */
export async function orStop<T>(parts: StartedParts, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await parts.stop();
    throw error;
  }
}
