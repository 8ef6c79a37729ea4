import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityDeps } from '../../../activities/deps.ts';
import type { Config } from '../../runtime/config/config.ts';
import { goOnWithout } from '../start/go-on-without.ts';
import { createCommonFolders, type CommonFolders } from '../folders/common-folders.ts';
import type { ConnectedTemporal } from '../temporal/embedded-temporal.ts';
import { watchOtherProfiles } from '../temporal/other-profiles.ts';
import { deregisterWorker, queuePollers, workerScope } from '../temporal/queue-pollers.ts';
import { ensureSchedules } from '../schedules/ensure-schedules.ts';
import { requireOwnQueue } from '../temporal/require-own-queue.ts';
import { watchSharedPatches } from '../temporal/shared-patches.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { watchTemporal } from '../temporal/watch-temporal.ts';
import { profileMark } from '../profile-fit/profile-mark.ts';
import { activityDeps } from './activity-deps.ts';
import { requireClock } from './require-clock.ts';
import type { SharedCore } from '../start/process-core.ts';
import type { OpenApplication } from '../start/open-applications.ts';
import { startWorker, startWorkerOfSeveral, type RunningWorker, type WorkerPlace } from './start-worker.ts';
import { stopWithoutFile } from '../schedules/application-without-file.ts';
import { watchStuckBatches } from '../temporal/stuck/stuck-watch.ts';

export interface WatchedWorkerOptions {
  readonly applications: readonly [OpenApplication, ...OpenApplication[]];
  readonly temporal: Pick<ConnectedTemporal, 'client' | 'place'>;
  /** The address to register for webhooks of an application; null: none. */
  readonly webhookUrlOf: (config: Config) => string | null;
  readonly consoleUrl: () => string | null;
  /** See `WorkerPlace`. */
  readonly onWork?: () => void;
  /** See `WorkerPlace`. */
  readonly onForcedEnd?: () => void;
}

export interface WatchedWorker {
  readonly worker: RunningWorker;
  /** See `TemporalWatch`. */
  readonly lost: Promise<never>;
  /** Null: this process shares folders with nobody. */
  readonly folders: CommonFolders | null;
}

/**
 * The worker on a task queue that no other ledger uses, the schedules of each application, and the watches over all. The worker polls last: a process
 * that has work in hand waits for nothing more before it can be told to leave.
 */
export async function startWatchedWorker(core: SharedCore, options: WatchedWorkerOptions): Promise<WatchedWorker> {
  const { config, opened, telemetry, parts, notify, log } = core;
  const { applications, temporal } = options;
  const { client } = temporal;
  const { taskQueue } = config;
  const [first] = applications;
  const pollers = () => queuePollers(client, taskQueue);
  notify('Starting the worker …');
  // Also a start stands still while the server does not answer.
  const temporalWatch = watchTemporal(client, { place: temporal.place, temporal: config.temporal }, log);
  parts.add('watch of temporal', () => temporalWatch.stop());
  await requireClock(opened);
  await requireOwnQueue({
    taskQueue,
    scope: workerScope(opened.id, first.core.config),
    pollers,
    pause: (ms) => sleep(ms),
    notify,
  });
  const joined = await joinEach(applications, options, await ensureSearchAttributes(client, log));
  const profile = profileMark(first.core.config);
  const place = {
    profile,
    telemetry: telemetry.worker,
    temporal: temporal.place,
    namespace: config.temporal.namespace,
    taskQueue,
    ...(options.onWork !== undefined && { onWork: options.onWork }),
    ...(options.onForcedEnd !== undefined && { onForcedEnd: options.onForcedEnd }),
    // A server of our own has no other worker, and leaves with this one.
    ...(config.temporal.address === null ? {} : await besideOthers()),
  };
  const configs = applications.map((one) => one.core.config);
  await ensureSchedules(configs, client, log);
  await stopWithoutFile({ client, ledger: opened, applications: configs, log });
  const [{ deps, folders }, ...others] = joined;
  const worker = first.core.config.isOneOfSeveral
    ? await startWorkerOfSeveral([deps, ...others.map((other) => other.deps)], opened, place)
    : await startWorker(deps, place);
  parts.addToTheEnd('worker', () => worker.stop());
  const names = new Set(configs.map(({ application }) => application));
  const stuck = watchStuckBatches({ ledger: opened, client, applications: names, telemetry, log });
  parts.add('watch of stuck batches', () => stuck.stop());
  return { worker, lost: temporalWatch.lost, folders: first.core.config.isOneOfSeveral ? null : folders };

  async function besideOthers(): Promise<Pick<WorkerPlace, 'deregister' | 'sharedPatches'>> {
    const first = await pollers();
    const otherProfiles = watchOtherProfiles({ first, pollers, own: profile, log });
    parts.add('watch of profiles', () => otherProfiles.stop());
    const sharedPatches = watchSharedPatches({ first, pollers, log });
    parts.add('watch of patches', () => sharedPatches.stop());
    return { sharedPatches, deregister: (identity) => deregisterWorker(client, taskQueue, identity) };
  }
}

interface Joined {
  readonly deps: ActivityDeps;
  readonly folders: CommonFolders | null;
}

/** Each application's folders, and what its activities touch. */
async function joinEach(
  [first, ...others]: WatchedWorkerOptions['applications'],
  options: WatchedWorkerOptions,
  searchable: boolean,
): Promise<[Joined, ...Joined[]]> {
  const join = async ({ core, service, watch, requireAccount }: OpenApplication): Promise<Joined> => {
    const { config, profile, ledger, crash, clock, telemetry, log } = core;
    const common = createCommonFolders({ config, ledger, log });
    const folders = common === null ? null : joinedBeforeUse(common);
    await goOnWithout(core, 'the work of an application waits for its folders', async () => folders?.join());
    const deps = activityDeps({
      ...{ config, ledger, folders, service, profile, watch, crash, telemetry, log, searchable },
      latestNow: clock.latestNow,
      async requireAccount() {
        // An embedded ledger goes by the clock of this machine.
        if (config.databaseUrl !== null) await requireClock(ledger);
        await requireAccount();
      },
      client: options.temporal.client,
      webhookUrl: options.webhookUrlOf(config),
      consoleUrl: options.consoleUrl,
    });
    return { deps, folders };
  };
  const joined: [Joined, ...Joined[]] = [await join(first)];
  // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
  for (const other of others) joined.push(await join(other));
  return joined;
}

/** Folders that could not be joined at the start are joined before anything is read or written there. */
function joinedBeforeUse(folders: CommonFolders): CommonFolders {
  let joined = false;
  const join = async (): Promise<void> => {
    await folders.join();
    joined = true;
  };
  return {
    join,
    async require(role) {
      if (!joined) await join();
      await folders.require(role);
    },
  };
}
