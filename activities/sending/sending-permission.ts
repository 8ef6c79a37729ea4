import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ClaimingRun,
  SendingBatch,
  SendingControlLedger,
} from '../../src/domain/ports/ledger/sending-control-ledger.ts';
import { steadyClock } from '../../src/domain/time/steady-clock.ts';
import type { DeparturePermit } from '../../src/domain/ports/invoicing-service.ts';

/** A POST may leave for so long after the ledger was asked: with the time of a POST's way to the wire, less than the promised second. */
const VALID_MS = 500;
/** While anything is being sent the ledger is asked this often, so that hardly any POST waits for it. */
const ASK_EVERY_MS = 200;
/** Between two questions that brought no valid permission. */
const ASK_AGAIN_MS = 50;

/** Reason of the withdrawal of a permit whose attempt has used up its time: nobody has stopped the batch. */
export const TIME_IS_OVER = 'time-is-over';

/** What asks for permission: one attempt to send for a batch. */
export interface PermitRequest {
  readonly batchId: string;
  /** The run that held the claim when the work was handed out; left out by runs of an earlier version. */
  readonly run?: ClaimingRun | undefined;
  /** The attempt is over after this, whatever the ledger says: a process that stood still meanwhile starts nothing. */
  readonly lastsMs: number;
}

/** The permission of one attempt. Once withdrawn it never comes back: a later attempt asks anew. */
export interface SendingPermit extends DeparturePermit {
  /**
   * True: the next POST may leave now. Reads the ledger again when its last answer is too old. False: nothing more of
   * this attempt leaves.
   */
  confirm(): Promise<boolean>;
  /** The attempt has ended. */
  close(): void;
}

/** Gives permissions to POST invoices of a batch. */
export interface SendingPermission {
  request(wanted: PermitRequest): SendingPermit;
}

interface Holder extends PermitRequest {
  readonly withdrawal: AbortController;
  readonly until: number;
  /** Settles with the withdrawal. */
  readonly isOver: Promise<void>;
}

/**
 * Whether this process may POST invoices, for all batches that it sends at the moment, with one query for all of them.
 * An operator's order is in the ledger before the update answers, and no POST leaves by a reading that is older than
 * VALID_MS. So nothing new leaves any process from a second after that answer on, not even a process that stood still
 * for hours. While the ledger cannot be read, nothing leaves.
 */
export function createSendingPermission(
  ledger: Pick<SendingControlLedger, 'sendingBatches'>,
  clock: () => number = steadyClock(),
): SendingPermission {
  const holders = new Set<Holder>();
  let asking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** When the question left whose answer came last. */
  let askedAt = Number.NEGATIVE_INFINITY;
  let known: ReadonlySet<Holder> = new Set();

  function ask(): Promise<void> {
    return (asking ??= look().finally(() => (asking = null)));
  }

  async function look(): Promise<void> {
    const at = clock();
    const concerned = [...holders];
    if (concerned.length === 0) return;
    try {
      const found = await ledger.sendingBatches([...new Set(concerned.map(({ batchId }) => batchId))]);
      const sending = new Map(found.map((batch) => [batch.batchId, batch]));
      for (const holder of concerned) if (!holds(holder, sending.get(holder.batchId))) holder.withdrawal.abort();
      known = new Set(concerned);
      askedAt = at;
    } catch {
      // The ledger is away: the last answer becomes too old, and nothing leaves.
    }
  }

  function isValid(holder: Holder): boolean {
    const now = clock();
    if (holder.withdrawal.signal.aborted || now > holder.until) return false;
    return known.has(holder) && now - askedAt <= VALID_MS;
  }

  async function confirm(holder: Holder): Promise<boolean> {
    while (!holder.withdrawal.signal.aborted && clock() <= holder.until) {
      if (isValid(holder)) return true;
      // A ledger that neither answers nor fails must not keep the attempt beyond its end.
      // oxlint-disable-next-line no-await-in-loop
      await Promise.race([ask(), holder.isOver]);
      // The ledger is away, or slower than a permission lasts.
      // oxlint-disable-next-line no-await-in-loop
      if (!isValid(holder)) await sleep(ASK_AGAIN_MS);
    }
    return false;
  }

  return {
    request(wanted) {
      const holder = holderOf(wanted, clock());
      holders.add(holder);
      timer ??= setInterval(() => void ask(), ASK_EVERY_MS).unref();
      return {
        withdrawn: holder.withdrawal.signal,
        isValid: () => isValid(holder),
        confirm: () => confirm(holder),
        close() {
          holder.withdrawal.abort();
          holders.delete(holder);
          if (holders.size > 0 || timer === null) return;
          clearInterval(timer);
          timer = null;
        },
      };
    },
  };
}

/** What waits for its turn, for the rate or for the ledger ends with the attempt, and gives its place to others. */
function holderOf(wanted: PermitRequest, now: number): Holder {
  const withdrawal = new AbortController();
  const { signal } = withdrawal;
  // Each POST that waits listens to it.
  setMaxListeners(0, signal);
  const end = setTimeout(() => withdrawal.abort(TIME_IS_OVER), wanted.lastsMs).unref();
  const isOver = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  void isOver.then(() => clearTimeout(end));
  return { ...wanted, withdrawal, isOver, until: now + wanted.lastsMs };
}

function holds({ run }: PermitRequest, batch: SendingBatch | undefined): boolean {
  if (batch === undefined) return false;
  return run === undefined || (run.workflowId === batch.workflowId && run.runId === batch.runId);
}
