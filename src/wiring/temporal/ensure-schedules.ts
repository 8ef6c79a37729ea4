import type { Client } from '@temporalio/client';
import type { Config } from '../../runtime/config/config.ts';
import { ensureNightlyRuns } from './nightly-schedule.ts';
import { ensureReconciliationSchedule } from './reconciliation-schedule.ts';

/** The reconciliation of each application, and its night where its file asks for one. */
export async function ensureSchedules(
  applications: readonly Config[],
  client: Client,
  log: { warn(message: string, fields?: Record<string, unknown>): void },
): Promise<void> {
  for (const config of applications) {
    // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
    await ensureReconciliationSchedule(client, config, log);
    if (config.schedule === null) continue;
    // oxlint-disable-next-line no-await-in-loop
    await ensureNightlyRuns({ ...config, client }, config.schedule);
  }
}
