import type { Client } from '@temporalio/client';
import { commandLine } from '../../domain/text/command-line.ts';
import type { Config } from '../../runtime/config/config.ts';
import { ensureNightlyRuns, nightlyScheduleId } from './nightly-schedule.ts';
import { ensureReconciliationSchedule } from './reconciliation-schedule.ts';
import { bringInput } from './schedule-input.ts';

type Log = Parameters<typeof ensureReconciliationSchedule>[2];

/**
 * The reconciliation of each application, and its night where its file asks for one. What cannot be scheduled is logged,
 * and keeps nobody from working.
 */
export async function ensureSchedules(applications: readonly Config[], client: Client, log: Log): Promise<void> {
  for (const config of applications) {
    // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
    await ensureReconciliationSchedule(client, config, log);
    // oxlint-disable-next-line no-await-in-loop
    await ensureNight(client, config, log);
  }
}

/** Nights that nobody has switched on stay off. */
async function ensureNight(client: Client, config: Config, log: Log): Promise<void> {
  const { application, schedule } = config;
  try {
    if (schedule !== null) await ensureNightlyRuns({ ...config, client }, schedule);
    await bringInput(client, nightlyScheduleId(application), config);
  } catch (error) {
    log.warn(
      `the nights of an application may not be scheduled; ${commandLine(config, 'nightly show')} tells, and the next start tries again`,
      {
        application,
        err: error,
      },
    );
  }
}
