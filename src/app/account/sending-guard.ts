import { createHash } from 'node:crypto';
import { LoteError } from '../../domain/errors.ts';
import type { Reason } from '../../domain/invoice.ts';
import type { Config } from '../config/config.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { openSendLog, reachedBy, type Range, type SendMark } from './send-log.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LostSend, NotedSend } from '../../ledger/sending/lost-sends.ts';
import type { SharedFolderLedger } from '../../ledger/operations/shared-folders.ts';

/** Enough digits to keep accounts apart. */
const SCOPE_DIGITS = 16;

/** What was sent without this ledger, in epoch milliseconds. */
export interface LostTime {
  readonly invoices: number;
  /** Null: none of the log tells. */
  readonly since: number | null;
  readonly until: number;
}

/** Batches that run, and what ends their unsent invoices. */
type OpenBatches = Pick<Ledger, 'openBatches' | 'holdUnsent' | 'refuseBatch'>;

/** What an operator has confirmed, and what no longer goes by itself: numbers of invoices, and of files. */
export interface ConfirmedLedger extends LostTime {
  /** Unsent invoices of running batches. */
  readonly held: number;
  /** Files that were still being read. */
  readonly refused: number;
  /** Invoices that were sent with another key than the ledger has. */
  readonly flagged: number;
}

/** Recognises a ledger that is older than what was sent with it. */
export interface SendingGuard {
  /** What was sent without this ledger, without writing anything; null: it knows all. */
  lostTime(): Promise<LostTime | null>;
  /** False: the ledger has sent, and the reports folder has no log of it. It is another folder, or its log was removed. */
  isWitnessed(): Promise<boolean>;
  /** @throws LoteError `interlock` when invoices were sent that the ledger does not know */
  require(): Promise<void>;
  /** Notes what is frozen and may leave now, before its first POST. @throws LoteError as `require` */
  note(sends: readonly NotedSend[]): Promise<void>;
  /**
   * An operator's word: the ledger goes on. It learns which keys were used without it, and what the batches of the copy have as unsent is held. Null: it knew
   * all that was sent.
   */
  confirm(batches: OpenBatches): Promise<ConfirmedLedger | null>;
}

/**
 * The account as the send log names it; null: the built-in sandbox, whose documents go with the data directory. Keys of one kind share a
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

/** A ledger that is behind its send log. */
interface Behind {
  /** By scope: from the position of the ledger to that of the log. */
  readonly ranges: ReadonlyMap<string, Range>;
  /** When the last of the log was sent. */
  readonly until: number;
}

type GuardLedger = Pick<Ledger, 'sendLogPositions' | 'advanceSendLog' | 'takeLostSends' | 'id'> & SharedFolderLedger;

/** Compares the ledger of the configured account with the send log in the reports folder; null: the built-in sandbox needs none. */
export function openSendingGuard(
  config: Pick<Config, 'service' | 'application' | 'databaseUrl' | 'dataDir' | 'inputDir' | 'reportsDir'>,
  { ledger }: { readonly ledger: GuardLedger },
): SendingGuard | null {
  const { application } = config;
  const account = sendingScope(config);
  if (account === null) return null;
  const scope = account;
  const folders = createCommonFolders({ config, ledger });
  const log = openSendLog(config.reportsDir);
  /** It is the common folder, and no empty place where that was mounted. */
  const requireFolder = async (): Promise<void> => folders?.require('reports');

  /** First the log, then the ledger: what is sent in between is not taken for lost. The address may have changed: each account of the ledger counts. */
  async function behind(): Promise<Behind | null> {
    await requireFolder();
    const marks = await log.marks();
    const positions = new Map([[scope, 0], ...(await ledger.sendLogPositions())]);
    const own = marks.filter((mark) => positions.has(mark.scope));
    const all = [...positions].map(([where, after]) => [where, { after, reached: reachedBy(marks, where) }] as const);
    const ranges = new Map(all.filter(([, { after, reached }]) => reached > after));
    return ranges.size === 0 ? null : { ranges, until: lastOf(own.filter((mark) => ranges.has(mark.scope))) };
  }

  async function sendsOf({ ranges, until }: Behind): Promise<{ readonly sends: readonly LostSend[] } & LostTime> {
    const sends = await log.sentBetween(ranges);
    const first = sends.reduce((earliest, { sentAt }) => Math.min(earliest, sentAt), Infinity);
    return { sends, invoices: sends.length, since: sends.length === 0 ? null : first, until };
  }

  return {
    async lostTime() {
      const found = await behind();
      if (found === null) return null;
      const { invoices, since, until } = await sendsOf(found);
      return { invoices, since, until };
    },
    async isWitnessed() {
      const known = (await ledger.sendLogPositions()).get(scope) ?? 0;
      return known === 0 || reachedBy(await log.marks(), scope) > 0;
    },
    async require() {
      const found = await behind();
      if (found !== null) throw olderLedger(application, found.until);
    },
    async note(sends) {
      if (sends.length === 0) return;
      await requireFolder();
      const marks = await log.marks();
      // The database may have lost its last transactions since the step began, and only the log tells.
      const position = await ledger.advanceSendLog(scope, reachedBy(marks, scope));
      if (position === null) throw olderLedger(application, lastOf(marks.filter((mark) => mark.scope === scope)));
      await log.append({ scope, position, at: Date.now() }, sends, marks);
    },
    async confirm(batches) {
      const found = await behind();
      if (found === null) return null;
      const { sends, ...time } = await sendsOf(found);
      // Before the ledger goes on: nothing is sent until then.
      const ended = await endUnsent(batches, application);
      const positions = new Map([...found.ranges].map(([where, { reached }]) => [where, reached]));
      const flagged = await ledger.takeLostSends({ positions, sends, now: Date.now() });
      return { ...time, ...ended, flagged };
    },
  };
}

function lastOf(marks: readonly SendMark[]): number {
  return marks.reduce((last, { at }) => Math.max(last, at), 0);
}

const NOT_SENT: Reason = {
  code: 'run-lost',
  message:
    'When the restored ledger was confirmed, this invoice was still to be sent in it, and an operator may have stopped its batch after the copy was made. Run the file again to send it: what was sent after the copy is not sent a second time.',
};
const NOT_READ = {
  code: 'run-lost',
  message:
    'When the restored ledger was confirmed, this file was still being read in it, and an operator may have stopped it after the copy was made. Run it again: what was sent after the copy is not sent a second time.',
};

/** A pause or a cancellation may be lost, too: what the copy has as running goes on at the word of a person. */
async function endUnsent(batches: OpenBatches, application: string): Promise<{ held: number; refused: number }> {
  const now = Date.now();
  let held = 0;
  let refused = 0;
  for (const batch of await batches.openBatches(application)) {
    if (batch.state === 'staging') {
      const fileFindings = [{ row: null, column: null, ...NOT_READ, severity: 'error' } as const];
      await batches.refuseBatch(batch, { rows: 0, fileFindings, proof: {}, now });
      refused += 1;
      continue;
    }
    const unsent = await batches.holdUnsent(batch.batchId, { reason: NOT_SENT, now });
    held += unsent;
  }
  return { held, refused };
}

function olderLedger(application: string, until: number): LoteError {
  return new LoteError(
    'interlock',
    `Sending for application "${application}": the ledger must know every invoice that was sent, but the reports folder has a log of invoices that it does not know, the last of ${new Date(until).toISOString()}: ` +
      `it is a restored copy, or a new ledger. Nothing was sent. ` +
      `Restore a newer copy, or let this ledger learn from the log what was sent, and confirm it once: lote confirm-ledger (docs/deployment.md#restore-the-ledger)`,
  );
}
