import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reason } from '../../src/domain/invoice.ts';
import type { BreakerLedger } from '../../src/domain/ports/ledger/breaker-ledger.ts';
import type {
  ClaimingRun,
  SendingBatch,
  SendingControlLedger,
} from '../../src/domain/ports/ledger/sending-control-ledger.ts';
import { steadyClock } from '../../src/domain/time/steady-clock.ts';
import type { DeparturePermit } from '../../src/domain/ports/invoicing-service.ts';
import { lastingStop, type StoppableService } from '../profile-fit/lasting-stop.ts';

/** A POST may leave for so long after the ledger was asked: with the time of a POST's way to the wire, less than the promised second. */
const VALID_MS = 500;
/** While anything is being sent the ledger is asked this often, so that hardly any POST waits for it. */
const ASK_EVERY_MS = 200;
/** Between two questions that brought no valid permission. */
const ASK_AGAIN_MS = 50;

/** Why a permit was withdrawn. */
export const WITHDRAWN = {
  /** The batch is paused, cancelled or closed, or another run holds its claim. */
  batchStopped: 'batch-stopped',
  /** Nothing may be sent to the service by any process, and no probe ends that. */
  serviceStopped: 'service-stopped',
  /** The attempt has used up its time. */
  timeIsOver: 'time-is-over',
  /** The attempt was cancelled, or its worker stops. */
  givenUp: 'given-up',
  /** The attempt has ended. */
  ended: 'ended',
} as const;

/** What asks for permission: one attempt to send for a batch. */
export interface PermitRequest {
  readonly batchId: string;
  /** The run that held the claim when the work was handed out; left out by runs of an earlier version. */
  readonly run?: ClaimingRun | undefined;
  /** The attempt is over after this, whatever the ledger says: a process that stood still meanwhile starts nothing. */
  readonly lastsMs: number;
  /** Aborted when the attempt is over: what it has on the wire is answered, and nothing more leaves. Left out: only by its time. */
  readonly over?: AbortSignal;
}

/** The permission of one attempt. Once withdrawn it never comes back: a later attempt asks anew. */
export interface SendingPermit extends DeparturePermit {
  /**
   * True: the next POST may leave now. Reads the ledger again when its last answer is too old. False: nothing more of
   * this attempt leaves.
   */
  confirm(): Promise<boolean>;
  /** Why the service was stopped for good, if the permit was withdrawn for that; null: it was not. */
  stoppedBecause(): Reason | null;
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
  stop: Reason | null;
}

/**
 * Whether this process may POST invoices, for all batches that it sends at the moment, with one query for all of them, and one for the service.
 * An operator's order is in the ledger before the update answers, and no POST leaves by a reading that is older than
 * VALID_MS. So nothing new leaves any process from a second after that answer on, not even a process that stood still
 * for hours. The same holds for a stop of the service that no probe ends; it stops the process that has found it at once. While the ledger cannot be read,
 * nothing leaves.
 */
export function createSendingPermission(
  ledger: PermissionLedger,
  service: StoppableService,
  clock: () => number = steadyClock(),
): SendingPermission {
  return new LedgerPermission(ledger, service, clock);
}

type PermissionLedger = Pick<SendingControlLedger, 'sendingBatches'> & Pick<BreakerLedger, 'breaker'>;

class LedgerPermission implements SendingPermission {
  readonly #ledger: PermissionLedger;
  readonly #service: StoppableService;
  readonly #clock: () => number;
  readonly #holders = new Set<Holder>();
  #asking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** When the question left whose answer came last. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #known: ReadonlySet<Holder> = new Set();

  constructor(ledger: PermissionLedger, service: StoppableService, clock: () => number) {
    this.#ledger = ledger;
    this.#service = service;
    this.#clock = clock;
  }

  request(wanted: PermitRequest): SendingPermit {
    const holder = holderOf(wanted, this.#clock());
    this.#holders.add(holder);
    this.#timer ??= setInterval(() => void this.#ask(), ASK_EVERY_MS).unref();
    return {
      withdrawn: holder.withdrawal.signal,
      isValid: () => this.#isValid(holder),
      confirm: () => this.#confirm(holder),
      stoppedBecause: () => holder.stop,
      close: () => this.#leave(holder),
    };
  }

  #leave(holder: Holder): void {
    holder.withdrawal.abort(WITHDRAWN.ended);
    this.#holders.delete(holder);
    if (this.#holders.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #isValid(holder: Holder): boolean {
    const now = this.#clock();
    if (holder.withdrawal.signal.aborted || now > holder.until || this.#service.watch.stoppedHere() !== null)
      return false;
    return this.#known.has(holder) && now - this.#askedAt <= VALID_MS;
  }

  async #confirm(holder: Holder): Promise<boolean> {
    while (!holder.withdrawal.signal.aborted && this.#clock() <= holder.until) {
      if (this.#isValid(holder)) return true;
      // A ledger that neither answers nor fails must not keep the attempt beyond its end.
      // oxlint-disable-next-line no-await-in-loop
      await Promise.race([this.#ask(), holder.isOver]);
      // The ledger is away, or slower than a permission lasts.
      // oxlint-disable-next-line no-await-in-loop
      if (!this.#isValid(holder)) await sleep(ASK_AGAIN_MS);
    }
    return false;
  }

  #ask(): Promise<void> {
    return (this.#asking ??= this.#look().finally(() => (this.#asking = null)));
  }

  async #look(): Promise<void> {
    const at = this.#clock();
    const concerned = [...this.#holders];
    if (concerned.length === 0) return;
    try {
      const batchIds = [...new Set(concerned.map(({ batchId }) => batchId))];
      const [found, stop] = await Promise.all([
        this.#ledger.sendingBatches(batchIds),
        lastingStop(this.#ledger, this.#service),
      ]);
      const sending = new Map(found.map((batch) => [batch.batchId, batch]));
      for (const holder of concerned)
        if (!holds(holder, sending.get(holder.batchId))) holder.withdrawal.abort(WITHDRAWN.batchStopped);
        else if (stop !== null) stopForGood(holder, stop);
      this.#known = new Set(concerned);
      this.#askedAt = at;
    } catch {
      // The ledger is away: the last answer becomes too old, and nothing leaves.
    }
  }
}

/** Before it is withdrawn: whoever hears of that asks why. */
function stopForGood(holder: Holder, stop: Reason): void {
  if (holder.withdrawal.signal.aborted) return;
  holder.stop = stop;
  holder.withdrawal.abort(WITHDRAWN.serviceStopped);
}

/** What waits for its turn, for the rate or for the ledger ends with the attempt, and gives its place to others. */
function holderOf(wanted: PermitRequest, now: number): Holder {
  const withdrawal = new AbortController();
  const { signal } = withdrawal;
  // Each POST that waits listens to it.
  setMaxListeners(0, signal);
  const giveUp = (): void => withdrawal.abort(WITHDRAWN.givenUp);
  const end = setTimeout(() => withdrawal.abort(WITHDRAWN.timeIsOver), wanted.lastsMs).unref();
  const isOver = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  wanted.over?.addEventListener('abort', giveUp);
  void isOver.then(() => {
    clearTimeout(end);
    wanted.over?.removeEventListener('abort', giveUp);
  });
  if (wanted.over?.aborted === true) giveUp();
  return { ...wanted, withdrawal, isOver, until: now + wanted.lastsMs, stop: null };
}

function holds({ run }: PermitRequest, batch: SendingBatch | undefined): boolean {
  if (batch === undefined) return false;
  return run === undefined || (run.workflowId === batch.workflowId && run.runId === batch.runId);
}
