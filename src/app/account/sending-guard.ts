import { createHash } from 'node:crypto';
import { LoteError } from '../../domain/errors.ts';
import type { Reason } from '../../domain/invoice.ts';
import type { Config } from '../config/config.ts';
import { createCommonFolders } from '../folders/common-folders.ts';
import { openSendLog, reachedBy, type Range, type SendMark } from './send-log.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { NotedSend } from '../../ledger/sending/lost-sends.ts';
import type { SharedFolderLedger } from '../../ledger/operations/shared-folders.ts';

/** Enough digits to keep accounts apart. */
const SCOPE_DIGITS = 16;

/** The running batches, and the methods that end their unsent invoices. */
type OpenBatches = Pick<Ledger, 'openBatches' | 'holdUnsent' | 'refuseBatch'>;

/** The result of an operator's confirmation: how many invoices and files Lote no longer sends by itself. */
export interface ConfirmedLedger {
  /** Invoices that were sent without this ledger, and since when (epoch milliseconds); null if the log has no key of them. */
  readonly invoices: number;
  readonly since: number | null;
  /** Unsent invoices of running batches. */
  readonly held: number;
  /** Files that Lote was still reading. */
  readonly refused: number;
  /** Invoices that were sent with a key other than the ledger's. */
  readonly flagged: number;
}

/** Recognises a ledger that is older than the send log. */
export type SendingGuard = NonNullable<ReturnType<typeof openSendingGuard>>;

/**
 * The account's name in the send log; null for the built-in sandbox, whose documents are removed with the data directory.
 * Keys of one kind (test or live) share a scope, because a key may be replaced; test and live keys never share one.
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
  /** For each scope, from the position of the ledger to the position of the log. */
  readonly ranges: ReadonlyMap<string, Range>;
  /** When the last logged invoice was sent. */
  readonly until: number;
}

type GuardLedger = Pick<Ledger, 'sendLogPositions' | 'advanceSendLog' | 'takeLostSends' | 'id'> & SharedFolderLedger;

/** Compares the ledger with the send log in the reports folder. Returns null for the built-in sandbox, which needs none. */
export function openSendingGuard(
  config: Pick<Config, 'service' | 'application' | 'databaseUrl' | 'dataDir' | 'inputDir' | 'reportsDir'>,
  { ledger }: { readonly ledger: GuardLedger },
) {
  const { application } = config;
  const account = sendingScope(config);
  if (account === null) return null;
  const scope = account;
  const folders = createCommonFolders({ config, ledger });
  const log = openSendLog(config.reportsDir);
  /** Requires the common folder instead of an empty mount point. */
  const requireFolder = async (): Promise<void> => folders?.require('reports');

  /** Reads the log before the ledger, so that sends in between do not look lost. Every account counts: the address may have changed. */
  async function behind(): Promise<Behind | null> {
    await requireFolder();
    const marks = await log.marks();
    const positions = new Map([[scope, 0], ...(await ledger.sendLogPositions())]);
    const all = [...positions].map(([where, after]) => [where, { after, reached: reachedBy(marks, where) }] as const);
    const ranges = new Map(all.filter(([, { after, reached }]) => reached > after));
    return ranges.size === 0 ? null : { ranges, until: lastOf(marks.filter((mark) => ranges.has(mark.scope))) };
  }

  /** Returns the sends that the ledger does not know, or null if it knows all. Writes nothing. */
  async function lostTime() {
    const found = await behind();
    if (found === null) return null;
    const sends = await log.sentBetween(found.ranges);
    const since = sends.length === 0 ? null : sends.reduce((first, { sentAt }) => Math.min(first, sentAt), Infinity);
    return { ranges: found.ranges, sends, invoices: sends.length, since };
  }

  return {
    lostTime,
    /** False if the ledger has sent but the reports folder has no log of it: the folder is a different one, or has lost its log. */
    async isWitnessed(): Promise<boolean> {
      const known = (await ledger.sendLogPositions()).get(scope) ?? 0;
      return known === 0 || reachedBy(await log.marks(), scope) > 0;
    },
    /** @throws LoteError `interlock` when invoices were sent that the ledger does not know */
    async require(): Promise<void> {
      const found = await behind();
      if (found !== null) throw olderLedger(application, found.until);
    },
    /** Logs frozen invoices before their first POST. @throws LoteError as `require` */
    async note(sends: readonly NotedSend[]): Promise<void> {
      if (sends.length === 0) return;
      await requireFolder();
      const marks = await log.marks();
      // The database may have lost its last transactions since the step began; only the log shows that.
      const position = await ledger.advanceSendLog(scope, reachedBy(marks, scope));
      if (position === null) throw olderLedger(application, lastOf(marks.filter((mark) => mark.scope === scope)));
      await log.append({ scope, position, at: Date.now() }, sends, marks);
    },
    /**
     * An operator confirms the ledger. The ledger learns the keys that were used without it, and Lote holds the unsent
     * invoices of the copy's batches. Returns null if the ledger knew all sends.
     */
    async confirm(batches: OpenBatches): Promise<ConfirmedLedger | null> {
      const found = await lostTime();
      if (found === null) return null;
      const { ranges, sends, invoices, since } = found;
      // This must come before the ledger may send again.
      const ended = await endUnsent(batches, application);
      const positions = new Map([...ranges].map(([where, { reached }]) => [where, reached]));
      const flagged = await ledger.takeLostSends({ positions, sends, now: Date.now() });
      return { invoices, since, ...ended, flagged };
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

/** The restored copy may lack a pause or a cancellation, so only a person may continue its running batches. */
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
