import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { NotifyWaiting } from '../../../activities/failure.ts';
import type { ActivityDeps, RetrySettings } from '../../../activities/deps.ts';
import { SendingPermission } from '../../../activities/sending/sending-permission.ts';
import { createDropFolder } from '../../nightly/claim-files.ts';
import { createRunLog } from '../../nightly/run-log.ts';
import type { ReportNote } from '../../report/report-model.ts';
import type { Logger } from '../process/logger.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import { chooseLanguage } from '../../texts/languages.ts';
import { profileDigestOf } from '../account/read-profile.ts';
import { sendingScope } from '../account/sending-guard.ts';
import { createWebhookRegistration } from '../receiver/webhook-registration.ts';
import { createNightMessages } from '../../nightly/night-message.ts';
import { type CommonFolders, onCommonFolders } from '../folders/common-folders.ts';
import { createFileReader } from '../files/input-files.ts';
import { createReportWriter } from '../reports/report-files.ts';
import { createReportHook } from '../reports/report-hook.ts';
import type { OpenApplication } from '../start/open-application.ts';
import { tested } from '../start/test-points.ts';
import { answerWithin } from '../temporal/calls.ts';
import { createRunDirectory } from '../temporal/run-directory.ts';
import { restartLeftRuns } from '../temporal/left-runs.ts';
import { reasonCode } from '../../service/profile/reason-text.ts';

/** Workflows that show what they wait for; a page's batch shows it for the page. */
const BATCHES: ReadonlySet<string> = new Set(['invoiceBatch', 'retryInvoices']);
/** A slow server must not delay the activity's own failure longer. */
const PATIENCE_MS = 5_000;

/** Creates the function that tells the batch of an activity why the activity waits, with the signal that pages use. It never rejects. */
function createWaitingNotices(client: Client, log: Pick<Logger, 'warn'>): NotifyWaiting {
  return async ({ workflowId, runId, activity, reason }) => {
    const notify = async (): Promise<void> => {
      const { type, parentExecution } = await client.workflow.getHandle(workflowId, runId).describe();
      const batch = BATCHES.has(type) ? workflowId : type === 'invoicePage' ? parentExecution?.workflowId : null;
      if (batch === null || batch === undefined) return;
      const notice = { page: noticeKey(workflowId, activity), reason };
      await client.workflow.getHandle(batch).signal('waiting', notice);
    };
    const notified = notify().catch((err: unknown) => {
      log.warn('a batch could not be notified of what it waits for', { workflowId, activity, err });
    });
    await answerWithin(PATIENCE_MS, notified);
  };
}

/**
 * Returns a key below zero, where no page has its number. Each activity of each workflow has its own key, so that one
 * cannot remove the notice of another.
 */
function noticeKey(workflowId: string, activity: string): number {
  let hash = 0;
  for (const character of `${workflowId} ${activity}`)
    hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_007;
  return -1 - hash;
}

/** The parts of a process that its activities use. */
export interface WorkerParts
  extends
    Pick<OpenApplication, 'config' | 'ledger' | 'profile' | 'log' | 'telemetry' | 'service' | 'calibration'>,
    Pick<ActivityDeps, 'requireAccount' | 'noteSends' | 'latestNow'> {
  /** Null if this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
  readonly client: Client;
  /** The address to register for webhooks; null means none. */
  readonly webhookUrl: string | null;
  /** True if the three search attributes are registered with the Temporal server. */
  readonly searchable: boolean;
  /** Public address of the console, or null if unknown. A function, because the console starts last. */
  readonly consoleUrl: () => string | null;
}

/**
 * Invoices per activity: large slices need few history events, and a crash repeats only requests that were on the wire.
 * A page of the usual size is one slice; other slices keep the connections busy while it reads or writes the ledger.
 */
const SLICE_SIZE = 2_000;

/** Returns everything that the activities use. */
export function activityDeps(parts: WorkerParts): ActivityDeps {
  const { config, ledger, service, profile, client, log } = parts;
  const { pollEverySeconds } = profile.limits;
  const now = Date.now;
  const registration = createWebhookRegistration({
    ledger,
    service,
    application: config.application,
    ownSecret: config.webhook.secrets.length > 0,
    url: parts.webhookUrl,
    register: profile.webhook.register,
    log,
  });
  return {
    application: config.application,
    speech: chooseLanguage(config.language),
    ledger,
    service,
    calibration: parts.calibration,
    runs: createRunDirectory(client),
    restartRuns: () => restartLeftRuns({ ...config, client, ledger, log }, { stuck: true }),
    notifyWaiting: createWaitingNotices(client, log),
    ...folderUsers(parts, () => registration.notes()),
    messages: createNightMessages(config, parts.consoleUrl),
    announce: createReportHook({ command: config.onReport, env: process.env, log }),
    requireAccount: parts.requireAccount,
    noteSends: parts.noteSends,
    permission: new SendingPermission({ ledger, calibration: parts.calibration, log }),
    ensureWebhook: () => registration.ensure(),
    settings: {
      sliceSize: Math.min(SLICE_SIZE, config.pageSize),
      settleMs: config.settleTimeoutMs,
      sendMs: config.sendTimeoutMs,
      patienceMs: config.outagePatienceMs,
      pageSize: config.pageSize,
      failureBudget: config.failureBudget,
      totalFactor: config.totalFactor,
      maxConcurrency: profile.limits.maxConcurrency,
      pollEveryMs: pollEverySeconds === null ? null : pollEverySeconds * 1_000,
      retry: retrySettings(profile),
      dropPatienceMs: config.drop.patienceMs,
    },
    operatorLinks: () => ({
      ...{ searchable: parts.searchable, console: parts.consoleUrl() },
      reportsDir: config.reportsDir,
    }),
    log,
    now,
    latestNow: parts.latestNow,
    random: Math.random,
  };
}

/** Readers and writers of files; workers that share the ledger use only their common folders. */
function folderUsers({ config, ledger, folders, profile, telemetry }: WorkerParts, notes: () => readonly ReportNote[]) {
  const speech = chooseLanguage(config.language);
  const writer = createReportWriter({
    ...{ ledger, notes, speech, reportsDir: config.reportsDir, dataDir: config.dataDir, now: Date.now },
    account: sendingScope(config),
    profileDigest: profileDigestOf(config, profile),
  });
  const users = {
    files: createFileReader(config, tested('buffersRows', true)),
    reports: tested('reports', writer),
    drops: createDropFolder({
      inputDir: config.inputDir,
      ledgerId: ledger.id,
      stableMs: config.drop.stableMs,
      pause: (ms) => sleep(ms),
    }),
    nights: telemetry.nights(tested('nights', createRunLog(config.reportsDir, speech))),
  };
  return folders === null ? users : onCommonFolders(folders, users);
}

/** Returns what the service profile allows to be sent again. */
export function retrySettings({ retry, idempotency }: ServiceProfile): RetrySettings {
  return {
    // The profile may use the service's own spelling; the ledger has the spelling of the report.
    failedReasonCodes: retry.failedReasonCodes.map((code) => reasonCode(code) ?? code),
    maxGenerations: retry.maxGenerations,
    retentionMs: repeatWindowMs(idempotency.retentionHours * HOUR_MS),
    rejectionIsProof: idempotency.mismatchCodes.length > 0,
    refusedRepeatIsProof: idempotency.refusedRepeatIsProof,
  };
}

const HOUR_MS = 3_600_000;
/** A request takes less time than this. */
const LONGEST_REQUEST_MS = 60_000;

/**
 * Returns how long Lote repeats a key by itself: as long as the service remembers it, less the time of a POST that left
 * at the last moment. Of a window shorter than two such times, Lote uses half.
 */
function repeatWindowMs(windowMs: number): number {
  return Math.floor(windowMs - Math.min(LONGEST_REQUEST_MS, windowMs / 2));
}
