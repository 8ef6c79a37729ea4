import { createHash } from 'node:crypto';
import { commandLine } from '../../domain/text/command-line.ts';
import { LoteError } from '../../domain/errors.ts';
import { LONGEST_SLICE_MS } from '../../contract/longest-slice.ts';
import type { Reason } from '../../domain/invoice.ts';
import type { StageInvoice } from '../../domain/ports/ledger/batch-ledger.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { SendingMark } from '../../domain/ports/ledger/sending-mark-ledger.ts';
import type { SharedFolderLedger } from '../../domain/ports/ledger/shared-folder-ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { repeatWindowMs } from './repeat-window.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { gapSince, witnessFolder, type Witness, type WitnessFolder } from './sending-witness.ts';

/** Enough digits to keep accounts apart. */
const SCOPE_DIGITS = 16;
const HOUR_MS = 3_600_000;

/** What the guard compares: the marks of the ledger, and those in the reports folder. */
export interface SendingGuardParts {
  readonly ledger: Pick<Ledger, 'id' | 'raiseSendingMark' | 'sendingMarks' | 'noteSendingGap' | 'closeSendingGaps'>;
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
}

/** Whether this ledger knows all that was sent. Times are epoch milliseconds. */
export interface SendingGap {
  /** 0: nobody knows since when. */
  readonly since: number;
  /** Until then the service remembers each key of the gap; afterwards Lote asks before it sends. */
  readonly safeUntil: number;
}

/** Batches that run, and the holding of what they have not sent. */
type OpenBatches = Pick<Ledger, 'openBatches' | 'holdUnsent'>;

/** A gap that an operator has confirmed; `held`: how many invoices of running batches are not sent by themselves any more. */
export interface ConfirmedGap extends SendingGap {
  readonly held: number;
}

/** Recognises a ledger that is older than what was sent with it. */
export interface SendingGuard {
  /** The gap as both sides show it, without writing anything; null: none. */
  gap(): Promise<SendingGap | null>;
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
  /** Notes that invoices were frozen and may leave now, in the ledger first and then outside of it. */
  mark(): Promise<void>;
  /**
   * An operator's word: what was sent in the gap is not sent again. Where the service may have forgotten a key of it, what running batches have as unsent is
   * held: it may have been sent in the gap, and only the operator can tell. Null: there is no gap.
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
  { ledger, profile, log }: Pick<SendingGuardParts, 'log'> & GuardedLedger,
): SendingGuard | null {
  const scope = sendingScope(config);
  if (scope === null) return null;
  const folders = createCommonFolders({ config, ledger });
  return createSendingGuard({
    requireFolder: async () => await folders?.require('reports'),
    ...{ ledger, log, scope, folder: witnessFolder(config.reportsDir, scope) },
    ...{ application: config.application, isOneOfSeveral: config.isOneOfSeveral },
    ...{ retentionMs: repeatWindowMs(profile), now: Date.now },
  });
}

/** The guard over the parts that it is given. */
function createSendingGuard(parts: SendingGuardParts): SendingGuard {
  const { ledger, scope, folder, requireFolder, retentionMs, log, now } = parts;
  /** The highest mark that this process raised; a lower one means that the ledger was replaced meanwhile. */
  let raised = 0;

  /** First the files, then the ledger: what is sent in between is not taken for a gap. */
  async function gaps(): Promise<{ readonly found: readonly Gap[]; readonly whole: SendingGap | null }> {
    await requireFolder();
    const witnesses = await folder.read();
    const marks = await ledger.sendingMarks(scope);
    const found = [...new Set(witnesses.map(({ ledgerId }) => ledgerId))].flatMap((ledgerId) => {
      const own = witnesses.filter((one) => one.ledgerId === ledgerId);
      const since = gapSince(own, marks.find((mark) => mark.ledgerId === ledgerId)?.number ?? 0);
      return since === null ? [] : [{ ledgerId, since, number: highest(own) }];
    });
    const whole = earliest([...notedGaps(marks), ...found.map(({ since }) => since)], retentionMs);
    return { found, whole };
  }

  async function gap(): Promise<SendingGap | null> {
    return (await gaps()).whole;
  }

  async function takeUp(found: readonly Gap[]): Promise<void> {
    for (const { ledgerId, number, since } of found)
      await ledger.noteSendingGap(scope, { ledgerId, number, gapSince: since });
  }

  async function require(): Promise<void> {
    const { found, whole } = await gaps();
    await takeUp(found);
    if (found.length > 0) log.warn('the ledger is older than what was sent with it', { ...whole });
    if (whole !== null && now() >= whole.safeUntil) throw olderLedger(parts, whole);
  }

  return {
    gap,
    require,
    async openSince() {
      const noted = notedGaps(await ledger.sendingMarks(scope));
      return noted.length === 0 ? null : Math.min(...noted);
    },
    async mark() {
      const number = await ledger.raiseSendingMark(scope, ledger.id);
      if (number <= raised) await require();
      raised = Math.max(raised, number);
      await requireFolder();
      await folder.write({ ledgerId: ledger.id, number, at: now() });
    },
    async confirm(batches) {
      const { found, whole } = await gaps();
      await takeUp(found);
      // Before the gap is closed: nothing is sent until then.
      const held = whole !== null && now() >= whole.safeUntil ? await holdUnsent(batches, parts) : 0;
      await ledger.closeSendingGaps(scope);
      return whole === null ? null : { ...whole, held };
    },
  };
}

function notedGaps(marks: readonly SendingMark[]): readonly number[] {
  return marks.flatMap(({ gapSince: since }) => since ?? []);
}

const MAY_HAVE_BEEN_SENT: Reason = {
  code: 'older-ledger',
  message:
    'When the restored ledger was confirmed, this invoice was still to be sent in it. It may have been sent after the copy was made: look into the reports of that time, or ask the service. If it was not issued, retry it.',
};

/** A batch that runs would send it as soon as the gap is closed. */
async function holdUnsent(batches: OpenBatches, { application, now }: SendingGuardParts): Promise<number> {
  let held = 0;
  for (const { batchId } of await batches.openBatches(application)) {
    // oxlint-disable-next-line no-await-in-loop -- a few, one after the other
    const count = await batches.holdUnsent(batchId, { reason: MAY_HAVE_BEEN_SENT, now: now() });
    held += count;
  }
  return held;
}

interface Gap {
  readonly ledgerId: string;
  readonly since: number;
  readonly number: number;
}

/**
 * The same ledger, which stages and hands out what is to be sent as the guard's gap has it, and notes in the guard what is frozen, before any of it is
 * POSTed. A step of sending freezes first, also where nothing is left to freeze, so that an attempt that ended between the two notes it now;
 * reconciliation takes first.
 */
export function markedLedger(ledger: Ledger, guard: SendingGuard | null): Ledger {
  if (guard === null) return ledger;
  return {
    ...ledger,
    async stageInvoices(claim, invoices, now) {
      const inGap = (await guard.openSince()) !== null;
      const staged = inGap ? invoices.map(inSendingGap) : invoices;
      return ledger.stageInvoices(claim, staged, now);
    },
    sendable: async (batchId, from, to) => ledger.sendable(batchId, from, to, await guard.openSince()),
    async freeze(...call) {
      const frozen = await ledger.freeze(...call);
      await guard.mark();
      return frozen;
    },
    async takeUnknown(...call) {
      const taken = await ledger.takeUnknown(...call);
      if (taken.length > 0) await guard.mark();
      return taken;
    },
  };
}

function inSendingGap(invoice: StageInvoice): StageInvoice {
  return invoice.kind === 'valid' ? { ...invoice, inSendingGap: true } : invoice;
}

function highest(witnesses: readonly Witness[]): number {
  return Math.max(...witnesses.map(({ number }) => number));
}

function earliest(times: readonly number[], retentionMs: number): SendingGap | null {
  if (times.length === 0) return null;
  const since = Math.min(...times);
  return { since, safeUntil: since + retentionMs - LONGEST_SLICE_MS };
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
