import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { NotifyWaiting } from '../../../activities/batch/waiting-notice.ts';
import type { ActivityDeps } from '../../../activities/deps.ts';
import type { AnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import { createSendingPermission } from '../../../activities/sending/sending-permission.ts';
import { LONGEST_SLICE_MS } from '../../contract/longest-slice.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import { createDropFolder } from '../../drop/drop-folder.ts';
import { createRunLog } from '../../report/nightly/run-log.ts';
import type { ReportNote } from '../../report/report-note.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { sendingWidth } from '../../service/limits/sending-width.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { chooseLanguage } from '../../texts/choose-language.ts';
import { NO_TELEMETRY, type Telemetry } from '../../telemetry/telemetry.ts';
import { merchantsDigestOf, profileDigestOf } from '../profile-fit/profile-digest.ts';
import { sendingScope } from '../account/sending-guard.ts';
import { deliveryAddress } from '../receiver/webhook-address.ts';
import { createWebhookRegistration } from '../receiver/webhook-registration.ts';
import { createNightMessages } from '../notification/night-messages.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { createFileReader } from '../files/input-files.ts';
import { inputSetting } from '../folders/require-folders.ts';
import { onCommonFolders } from '../folders/on-common-folders.ts';
import { createReportWriter } from '../reports/report-files.ts';
import { createReportHook } from '../reports/report-hook.ts';
import { type CrashPoints, NO_CRASH } from '../start/crash-points.ts';
import { createRunDirectory } from '../temporal/batch-starter.ts';
import { pollPaceOf, retrySettings } from './profile-settings.ts';

/** Workflows that show what they wait for; a page's batch does so for it. */
const BATCHES: ReadonlySet<string> = new Set(['invoiceBatch', 'retryInvoices']);
/** The activity's own failure must not wait longer for a server that is slow. */
const PATIENCE_MS = 5_000;

/** Tells the batch of an activity what is waited for, by the signal that its pages use; never rejects. */
function createWaitingNotices(
  client: Client,
  {
    language,
    log,
  }: Pick<Config, 'language'> & {
    readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  },
): NotifyWaiting {
  return async ({ workflowId, runId, activity, reason }) => {
    const notified = notify().catch((error: unknown) => {
      log.warn('a batch could not be notified of what it waits for', { workflowId, activity, err: error });
    });
    await Promise.race([notified, sleep(PATIENCE_MS, undefined, { ref: false })]);

    async function notify(): Promise<void> {
      const { type, parentExecution } = await client.workflow.getHandle(workflowId, runId).describe();
      const batch = BATCHES.has(type) ? workflowId : type === 'invoicePage' ? parentExecution?.workflowId : null;
      if (batch === null || batch === undefined) return;
      const notice = { page: noticeKey(workflowId, activity), reason, language };
      await client.workflow.getHandle(batch).signal('waiting', notice);
    }
  };
}

/**
 * Below zero, where no page stands: one for each activity of each workflow, so that none takes the notice of another
 * away.
 */
function noticeKey(workflowId: string, activity: string): number {
  let hash = 0;
  for (const character of `${workflowId} ${activity}`)
    hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_007;
  return -1 - hash;
}

export interface WorkerParts {
  /** Null: this process shares folders with nobody. */
  readonly folders: CommonFolders | null;
  readonly config: Config;
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly profile: ServiceProfile;
  /** The one of this process. */
  readonly watch: AnswerWatch;
  /** See `requireKnownService` and `SendingGuard`. */
  readonly requireAccount: () => Promise<unknown>;
  /** See `ServiceClock`. */
  readonly latestNow: (since?: number) => number;
  readonly client: Client;
  /** The address to register for webhooks; null: none. */
  readonly webhookUrl: string | null;
  /** The three search attributes are registered with the Temporal server. */
  readonly searchable: boolean;
  /**
   * Address of the console, where people can reach it; asked for when it is needed, for it starts last. Null: not
   * known.
   */
  readonly consoleUrl: () => string | null;
  /** Left out: none. */
  readonly crash?: CrashPoints;
  /** Left out: nothing is measured. */
  readonly telemetry?: Pick<Telemetry, 'nights'>;
  readonly log: Logger;
}

/**
 * Invoices per activity: large slices cost few history events, and a crash repeats no more than what was on the wire. A page of the usual
 * size is one slice; its neighbours keep the connections busy while it reads or writes the ledger.
 */
const SLICE_SIZE = 2_000;

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
    register: profile.webhook.register,
    addressOf: (url) => deliveryAddress(url, profile.signature.kind, config.webhook.secrets[0] ?? null),
    log,
    now,
    pause: (ms) => sleep(ms),
  });
  const hook = createReportHook({ command: config.onReport, env: process.env, log });
  return {
    application: config.application,
    isOneOfSeveral: config.isOneOfSeveral,
    speech: chooseLanguage(config.language),
    profileDigest: profileDigestOf(config, profile),
    merchantsDigest: merchantsDigestOf(profile),
    ledger,
    service,
    watch: parts.watch,
    runs: createRunDirectory(client),
    notifyWaiting: createWaitingNotices(client, { language: config.language, log }),
    ...folderUsers(parts, () => registration.notes()),
    messages: createNightMessages(config, { consoleUrl: parts.consoleUrl, now }),
    announce: (report) => hook.announce(report),
    requireAccount: parts.requireAccount,
    permission: createSendingPermission(ledger, { baseUrl: service.baseUrl, watch: parts.watch }),
    ensureWebhook: () => registration.ensure(),
    settings: {
      ...sendingWidth(profile.limits.requestsPerSecond, {
        sliceSize: Math.min(SLICE_SIZE, config.pageSize),
        sliceMs: LONGEST_SLICE_MS,
      }),
      settleMs: config.settleTimeoutMs,
      sendMs: config.sendTimeoutMs,
      patienceMs: config.outagePatienceMs,
      pageSize: config.pageSize,
      failureBudget: config.failureBudget,
      totalFactor: config.totalFactor,
      maxConcurrency: profile.limits.maxConcurrency,
      pollEveryMs: pollPaceOf(config, profile).everyMs,
      retry: retrySettings(profile),
      dropPatienceMs: config.drop.patienceMs,
    },
    operatorLinks: () => ({
      ...{ searchable: parts.searchable, console: parts.consoleUrl() },
      ...{ reportsDir: config.reportsDir, language: config.language },
    }),
    log,
    now,
    latestNow: parts.latestNow,
    random: Math.random,
  };
}

/** What reads and writes files; where workers share the ledger, only in the folders that they share too. */
function folderUsers(
  { config, ledger, folders, profile, service, latestNow, crash = NO_CRASH, telemetry = NO_TELEMETRY }: WorkerParts,
  notes: () => readonly ReportNote[],
) {
  const speech = chooseLanguage(config.language);
  const retry = retrySettings(profile);
  const writer = createReportWriter({
    ...{ ledger, notes, speech, reportsDir: config.reportsDir, dataDir: config.dataDir, now: Date.now },
    account: sendingScope(config),
    latestNow,
    // A slice asks before it begins, and its POSTs follow.
    retentionMs: retry.retentionMs - LONGEST_SLICE_MS,
    retriedCodes: retry.failedReasonCodes,
    profile: { profileDigest: profileDigestOf(config, profile), baseUrl: service.baseUrl, now: Date.now },
  });
  const users = {
    files: createFileReader({ ...config, buffersRows: !crash.stopsAtRows }),
    reports: crash.reports(writer),
    drops: createDropFolder({
      inputDir: config.inputDir,
      setting: inputSetting(config),
      ledgerId: ledger.id,
      stableMs: config.drop.stableMs,
      marker: config.drop.marker,
      pause: (ms) => sleep(ms),
      at: async (point) => crash.drop(point),
    }),
    nights: telemetry.nights(crash.nights(createRunLog(config.reportsDir, speech))),
  };
  return folders === null ? users : onCommonFolders(folders, users);
}
