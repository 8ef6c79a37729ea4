import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { createSendingPermission } from '../../../activities/sending/sending-permission.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger } from '../../domain/ports/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ServiceProfile } from '../../service/profile.ts';
import { createDropFolder } from '../../drop/drop-folder.ts';
import { createNightBook } from '../../report/nightly/run-log.ts';
import { createRunDirectory } from '../temporal/batch-starter.ts';
import type { CommonFolders } from '../reports/common-folders.ts';
import { NO_CRASH, type CrashPoints } from './crash-points.ts';
import { createFileReader } from '../reports/input-files.ts';
import { onCommonFolders } from '../reports/on-common-folders.ts';
import { createReportHook } from '../reports/report-hook.ts';
import { createReportWriter } from '../reports/report-files.ts';
import { retrySettings } from './retry-settings.ts';
import { createWaitingNotices } from './waiting-notices.ts';
import { createWebhookRegistration } from '../account/webhook-registration.ts';

export interface WorkerParts {
  /** Null: this process shares folders with nobody. */
  readonly folders: CommonFolders | null;
  readonly config: Config;
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly profile: ServiceProfile;
  /** See `requireKnownService`. */
  readonly requireAccount: () => Promise<unknown>;
  readonly client: Client;
  /** The address to register for webhooks; null: none. */
  readonly webhookUrl: string | null;
  /** The three search attributes are registered with the Temporal server. */
  readonly searchable: boolean;
  /** Address of the console, where people can reach it; asked for when it is needed, for it starts last. Null: not known. */
  readonly consoleUrl: () => string | null;
  /** Left out: none. */
  readonly crash?: CrashPoints;
  readonly log: Logger;
}

/** Invoices per activity: large slices cost few history events, and a crash repeats no more than what was on the wire. */
const SLICE_SIZE = 1_000;

/** Gives the activities everything they touch. */
export function activityDeps(parts: WorkerParts): ActivityDeps {
  const { config, ledger, service, profile, client, log } = parts;
  const now = Date.now;
  const registration = createWebhookRegistration({
    ledger,
    service,
    application: config.application,
    claimant: randomUUID(),
    ownSecret: config.webhook.secrets.length > 0,
    url: parts.webhookUrl,
    log,
    now,
    pause: (ms) => sleep(ms),
  });
  const hook = createReportHook({ command: config.onReport, env: process.env, log });
  return {
    application: config.application,
    ledger,
    service,
    runs: createRunDirectory(client),
    tellWaiting: createWaitingNotices(client, log),
    ...folderUsers(parts, () => notesOf(registration.note())),
    announce: (report) => hook.announce(report),
    requireAccount: parts.requireAccount,
    permission: createSendingPermission(ledger),
    ensureWebhook: () => registration.ensure(),
    settings: {
      sliceSize: Math.min(SLICE_SIZE, config.pageSize),
      settleMs: config.settleTimeoutMs,
      sendMs: config.sendTimeoutMs,
      patienceMs: config.outagePatienceMs,
      pageSize: config.pageSize,
      failureBudget: config.failureBudget,
      maxConcurrency: profile.limits.maxConcurrency,
      retry: retrySettings(profile),
      dropPatienceMs: config.drop.patienceMs,
    },
    desk: () => ({ searchable: parts.searchable, console: parts.consoleUrl(), reportsDir: config.reportsDir }),
    log,
    now,
    random: Math.random,
  };
}

/** What reads and writes files; where workers share the ledger, only in the folders that they share too. */
function folderUsers({ config, ledger, folders, crash = NO_CRASH }: WorkerParts, notes: () => readonly string[]) {
  const users = {
    files: createFileReader(config),
    reports: crash.reports(
      createReportWriter({ ledger, reportsDir: config.reportsDir, dataDir: config.dataDir, notes, now: Date.now }),
    ),
    drops: createDropFolder({
      inputDir: config.inputDir,
      stableMs: config.drop.stableMs,
      marker: config.drop.marker,
      pause: (ms) => sleep(ms),
      at: async (point) => crash.drop(point),
    }),
    nights: crash.nights(createNightBook(config.reportsDir)),
  };
  return folders === null ? users : onCommonFolders(folders, users);
}

function notesOf(note: string | null): readonly string[] {
  return note === null ? [] : [note];
}
