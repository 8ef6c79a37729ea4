import { createHash } from 'node:crypto';
import { commandLine } from '../../domain/text/command-line.ts';
import { LoteError } from '../../domain/errors.ts';
import { isAhead } from '../../domain/time/is-ahead.ts';
import { createServiceClock, type ServiceClock } from '../../domain/time/service-clock.ts';
import { LONGEST_SLICE_MS } from '../../contract/longest-slice.ts';
import type { Reason } from '../../domain/invoice.ts';
import { OLDER_LEDGER } from '../../domain/retry-decision.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { SendingMark } from '../../domain/ports/ledger/sending-mark-ledger.ts';
import type { SharedFolderLedger } from '../../domain/ports/ledger/shared-folder-ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { gapsElsewhere, type Gap } from './gaps-elsewhere.ts';
import { repeatWindowMs } from './repeat-window.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { gapSince, highestOf, lastSentAt, witnessFolder, type Witness, type WitnessFolder } from './sending-witness.ts';

/** Enough digits to keep accounts apart. */
const SCOPE_DIGITS = 16;
const HOUR_MS = 3_600_000;

/** What the guard compares: the marks of the ledger, and those in the reports folder. */
export interface SendingGuardParts {
  readonly ledger: Pick<
    Ledger,
    'id' | 'raiseSendingMark' | 'sendingMarks' | 'ownSendingMarks' | 'noteSendingGap' | 'closeSendingGaps'
  >;
  readonly scope: string;
  readonly folder: WitnessFolder;
  /** Before the folder is used: it is the common one, and no empty place where it was mounted. @throws LoteError `folder-unusable` */
  readonly requireFolder: () => Promise<void>;
  /** For how long after its first POST a key may be used again. */
  readonly retentionMs: number;
  readonly application: string;
  /** Commands must name it then. */
  readonly isOneOfSeveral: boolean;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly now: () => number;
  /** For the question how long ago it was, at least. */
  readonly clock: Pick<ServiceClock, 'latestNow' | 'sentBefore'>;
}

/** Whether this ledger knows all that was sent. Times are epoch milliseconds. */
export interface SendingGap {
  /** 0: nobody knows since when. */
  readonly since: number;
  /** Until then the service remembers each key of the gap; afterwards Lote asks before it sends. */
  readonly safeUntil: number;
  /** True while the service remembers each key of the gap. Every caller asks here, so that all go by one clock. */
  isRemembered(): boolean;
}

/** Batches that run, and what ends their unsent invoices. */
type OpenBatches = Pick<Ledger, 'openBatches' | 'firstUnsent' | 'holdUnsent' | 'refuseBatch'>;

/** A gap that an operator has confirmed, and what no longer goes by itself: numbers of invoices, and of files. */
export interface ConfirmedGap extends SendingGap {
  /** Unsent invoices of running batches. */
  readonly held: number;
  /** Files that were still being read. */
  readonly refused: number;
  /** Invoices that were `held`, `failed` or `rejected`, and may have been sent again since the copy. */
  readonly doubtful: number;
}

/** Recognises a ledger that is older than what was sent with it. */
export interface SendingGuard {
  /** The gap as both sides show it, without writing anything; null: none. */
  gap(): Promise<SendingGap | null>;
  /**
   * False: the ledger has sent, and the reports folder has no mark of it. It is another folder, for example because its disk is not mounted, or somebody has
   * removed the marks. Nobody can tell then whether the ledger is older than what was sent.
   */
  isWitnessed(): Promise<boolean>;
  /**
   * Takes up a gap into the ledger, so that it stays known when the marks go on.
   * @throws LoteError `interlock` when invoices could be sent whose keys the service may have forgotten
   */
  require(): Promise<void>;
  /**
   * Since when invoices may have been sent that the ledger does not know, as it has taken it up; null: it knows all. Until an operator confirms, each
   * invoice may exist.
   */
  openSince(): Promise<number | null>;
  /**
   * Notes that invoices were frozen and may leave now, in the ledger first and then outside of it. Returns what `openSince` says after that.
   * @throws LoteError as `require`
   */
  mark(): Promise<number | null>;
  /**
   * An operator's word: what was sent in the gap is settled. What the ledger has as not issued may have been sent in the gap, and only the operator can
   * tell: from now on nothing of it goes by itself. Null: there is no gap.
   * @throws LoteError `interlock` while the service remembers the keys and running batches have something to send: it would go after the gap is closed
   */
  confirm(batches: OpenBatches): Promise<ConfirmedGap | null>;
}

/**
 * The account as the marks name it; null: the built-in sandbox, whose documents go with the data directory. Keys of one kind share a
 * scope, because a key may be replaced; test and live keys of one address never do.
 */
export function sendingScope({ service, application }: Pick<Config, 'service' | 'application'>): string | null {
  if (service.kind === 'sandbox') return null;
  const kind = /^sk_(?:test|live)_/.exec(service.apiKey)?.[0] ?? '';
  return createHash('sha256')
    .update(JSON.stringify([application, service.baseUrl.replace(/\/+$/, ''), kind]))
    .digest('hex')
    .slice(0, SCOPE_DIGITS);
}

interface GuardedLedger {
  readonly ledger: SendingGuardParts['ledger'] & SharedFolderLedger;
  readonly profile: ServiceProfile;
}

/** The guard of the configured account; null: the built-in sandbox needs none. */
export function openSendingGuard(
  config: Pick<
    Config,
    'service' | 'application' | 'isOneOfSeveral' | 'databaseUrl' | 'dataDir' | 'inputDir' | 'reportsDir'
  >,
  {
    ledger,
    profile,
    log,
    clock = createServiceClock(),
  }: Pick<SendingGuardParts, 'log'> & Partial<Pick<SendingGuardParts, 'clock'>> & GuardedLedger,
): SendingGuard | null {
  const scope = sendingScope(config);
  if (scope === null) return null;
  const folders = createCommonFolders({ config, ledger });
  return createSendingGuard({
    requireFolder: async () => await folders?.require('reports'),
    ...{ ledger, log, scope, folder: witnessFolder(config.reportsDir, scope) },
    ...{ application: config.application, isOneOfSeveral: config.isOneOfSeveral },
    ...{ retentionMs: repeatWindowMs(profile), now: Date.now, clock },
  });
}

/** The guard over the parts that it is given. */
function createSendingGuard(parts: SendingGuardParts): SendingGuard {
  const { ledger, scope, folder, requireFolder, log, now, clock } = parts;

  /** First the files, then the ledger: what is sent in between is not taken for a gap. */
  async function gaps(raised?: number): Promise<{ readonly found: readonly Gap[]; readonly whole: SendingGap | null }> {
    await requireFolder();
    const all = await folder.readAll();
    // The first time nothing of this process stands there: it notes nothing before it has asked.
    clock.sentBefore(lastSentAt(all, ledger.id));
    const witnesses = all.filter((one) => one.scope === scope);
    const marks = await ledger.sendingMarks(scope);
    const found = [...new Set(witnesses.map(({ ledgerId }) => ledgerId))].flatMap((ledgerId) => {
      const own = witnesses.filter((one) => one.ledgerId === ledgerId);
      const known = marks.find((mark) => mark.ledgerId === ledgerId)?.number ?? 0;
      const since = gapSince(own, known) ?? (ledgerId === ledger.id ? usedAt(own, raised) : null);
      return since === null ? [] : [{ ledgerId, since, number: highestOf(own) }];
    });
    found.push(...(await gapsElsewhere({ ledger, scope, witnesses: all, marks })));
    const whole = earliest([...notedGaps(marks), ...found.map(({ since }) => since)], parts);
    return { found, whole };
  }

  async function takeUp(found: readonly Gap[]): Promise<void> {
    for (const { ledgerId, number, since } of found)
      await ledger.noteSendingGap(scope, { ledgerId, number, gapSince: since });
  }

  async function require(raised?: number): Promise<SendingGap | null> {
    const { found, whole } = await gaps(raised);
    await takeUp(found);
    if (found.length > 0) log.warn('the ledger is older than what was sent with it', timesOf(whole));
    if (whole !== null && !whole.isRemembered()) throw olderLedger(parts, whole);
    return whole;
  }

  return {
    gap: async () => (await gaps()).whole,
    async isWitnessed() {
      const marks = await ledger.sendingMarks(scope);
      if (!marks.some(({ ledgerId }) => ledgerId === ledger.id)) return true;
      return (await folder.read()).some(({ ledgerId }) => ledgerId === ledger.id);
    },
    require: async () => void (await require()),
    async openSince() {
      const noted = notedGaps(await ledger.sendingMarks(scope));
      return noted.length === 0 ? null : Math.min(...noted);
    },
    async mark() {
      const number = await ledger.raiseSendingMark(scope, ledger.id);
      // The database may have lost its last transactions since the step began, and only the folder tells.
      const open = await require(number);
      await folder.write({ ledgerId: ledger.id, number, at: now() });
      return open?.since ?? null;
    },
    async confirm(batches) {
      const { found, whole } = await gaps();
      await takeUp(found);
      if (whole === null) return null;
      // Before the gap is closed: nothing is sent until then.
      const ended = whole.isRemembered() ? await requireSent(batches, parts) : await endUnsent(batches, parts);
      const doubtful = await ledger.closeSendingGaps(scope, parts.application);
      return { ...whole, ...ended, doubtful };
    },
  };
}

function notedGaps(marks: readonly SendingMark[]): readonly number[] {
  return marks.flatMap(({ gapSince: since }) => since ?? []);
}

const MAY_HAVE_BEEN_SENT: Reason = {
  code: OLDER_LEDGER,
  message:
    'When the restored ledger was confirmed, this invoice was still to be sent in it. It may have been sent after the copy was made: look into the reports of that time, or ask the service. If it was not issued, retry it with the accepted risk of a duplicate.',
};
const NOT_READ = {
  code: OLDER_LEDGER,
  message:
    'When the restored ledger was confirmed, this file was still being read in it, so nothing of it was sent. It may have been sent after the copy was made: look into the reports of that time. If it was not, drop it again.',
};

/** A batch that runs would send it as soon as the gap is closed, and a file that is being read would stage it anew. */
async function endUnsent(batches: OpenBatches, { application, now }: SendingGuardParts) {
  let held = 0;
  let refused = 0;
  for (const batch of await batches.openBatches(application)) {
    if (batch.state === 'staging') {
      const fileFindings = [{ row: null, column: null, ...NOT_READ, severity: 'error' } as const];
      await batches.refuseBatch(batch, { rows: 0, fileFindings, proof: {}, now: now() });
      refused += 1;
      continue;
    }
    const unsent = await batches.holdUnsent(batch.batchId, { reason: MAY_HAVE_BEEN_SENT, now: now() });
    held += unsent;
  }
  return { held, refused };
}

/** What goes while the gap is open counts as a repeat. After it is closed nobody knows that it must, and the service forgets the key. */
async function requireSent(batches: OpenBatches, parts: SendingGuardParts) {
  const { application } = parts;
  for (const { batchId, state } of await batches.openBatches(application)) {
    if (state !== 'staging' && (await batches.firstUnsent(batchId, { limit: 1 })).length === 0) continue;
    throw new LoteError(
      'interlock',
      `Confirming the ledger for application "${application}": while the service remembers the keys, every batch must have sent what it has, but batch ${batchId} has not. ` +
        `What it sends after the confirmation would not count as sent before. Nothing was confirmed. Wait until it has sent all, or cancel it, then confirm again: ${commandLine(parts, 'confirm-ledger')}`,
    );
  }
  return { held: 0, refused: 0 };
}

/** When the number that this process has just raised was used before; null: never, as it must be. */
function usedAt(own: readonly Witness[], raised: number | undefined): number | null {
  return own.find(({ number }) => number === raised)?.at ?? null;
}

/** Of a time that has not come yet nobody knows when it was. */
function earliest(
  times: readonly number[],
  { retentionMs, clock }: Pick<SendingGuardParts, 'retentionMs' | 'clock'>,
): SendingGap | null {
  if (times.length === 0) return null;
  const since = Math.min(...times.map((at) => (isAhead(at, clock.latestNow()) ? 0 : at)));
  const safeUntil = since + retentionMs - LONGEST_SLICE_MS;
  return { since, safeUntil, isRemembered: () => clock.latestNow(since) < safeUntil };
}

/** For the log. */
function timesOf(gap: SendingGap | null): Record<string, unknown> {
  return gap === null ? {} : { since: gap.since, safeUntil: gap.safeUntil };
}

function olderLedger(parts: SendingGuardParts, { since }: SendingGap): LoteError {
  const { application, retentionMs } = parts;
  const hours = Math.round((retentionMs / HOUR_MS) * 100) / 100;
  const when = since === 0 ? 'at a time that nobody knows' : `since ${new Date(since).toISOString()}`;
  return new LoteError(
    'interlock',
    `Sending for application "${application}": the ledger must know every invoice that was sent, but the reports folder says that invoices were sent ${when} which it does not know: ` +
      `it is a restored copy, or a new ledger. That is more than ${hours} h ago, so that the service may have forgotten their keys, and to send them again could issue them twice. Nothing was sent. ` +
      `Restore a newer copy, or compare reports and service (docs/operations/backup.md), remove the files that must not go again, and confirm it once: ${commandLine(parts, 'confirm-ledger')}`,
  );
}
