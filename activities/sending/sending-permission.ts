import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reason } from '../../src/domain/invoice.ts';
import { steadyClock } from '../../src/domain/time/steady-clock.ts';
import type { Calibration } from '../calibration.ts';
import type { ClaimingRun } from '../../src/domain/records/batch-record.ts';
import type { SendingBatch } from '../../src/ledger/sending/sending-control.ts';
import type { DeparturePermit } from '../../src/domain/records/service-answers.ts';
import type { SendableInvoice } from '../../src/ledger/sending/sending.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';

/** While a batch is being sent, Lote asks the ledger this often, so that hardly any POST waits for the answer. */
const ASK_EVERY_MS = 200;
/** Pause after an answer that brought no valid permission. */
const ASK_AGAIN_MS = 50;

/** Why a permit was withdrawn: the batch is paused, cancelled or closed, or another run holds its claim. */
export const BATCH_STOPPED = 'batch-stopped';

/** A request for permission by one attempt to send. */
export interface PermitRequest {
  /** The batch, and the run that held its claim when the work was handed out; left out to repeat invoices of closed batches. */
  readonly batch?: { readonly batchId: string; readonly run: ClaimingRun } | undefined;
  /** The attempt ends after this time, whatever the ledger says, so that a process that stood still starts nothing new. */
  readonly lastsMs: number;
  /** Aborts when the attempt ends: open requests still get their answers, but no further POST leaves. */
  readonly over: AbortSignal;
}

/** The permission of one attempt. A withdrawn permit never comes back; a later attempt asks anew. */
export interface SendingPermit extends DeparturePermit {
  /** True if the next POST may leave now; reads the ledger again if its answer is too old. False ends the sending. */
  confirm(): Promise<boolean>;
  /** Returns why the service was stopped for good, or null if the permit was not withdrawn for that. */
  stoppedBecause(): Reason | null;
  /** Ends the attempt. */
  close(): void;
}

interface Holder extends Pick<PermitRequest, 'batch'> {
  readonly withdrawal: AbortController;
  /** Aborts when the permit is withdrawn, or the attempt is over. */
  readonly withdrawn: AbortSignal;
  /** Withdraws the permit when the attempt has used up its time. */
  readonly timer: NodeJS.Timeout;
  /** When the attempt has used up its time. */
  readonly ends: number;
  /** Until when a POST may leave by the ledger's last answer. */
  until: number;
  /** Resolves when the permit is withdrawn. */
  readonly isOver: Promise<void>;
  stop: Reason | null;
}

/** A pause takes effect one answer of the ledger later. Up to this answer time, the last POST leaves within a second. */
const SLOW_ANSWER_MS = 500;

interface PermissionParts {
  readonly ledger: Pick<Ledger, 'sendingBatches'>;
  /** Says why the calibration of this service profile stops sending. */
  readonly calibration: Pick<Calibration, 'stopped' | 'stoppedHere'>;
  readonly log: { warn(message: string, fields: Record<string, unknown>): void };
  readonly clock?: () => number;
}

/**
 * Decides whether this process may POST invoices. One query covers all batches that it sends, another one the service
 * profile. An operator's order is in the ledger before the update answers, and a POST leaves only while the last
 * reading is as young as `timelyAnswer` demands. So no process sends anything new more than a second after that answer
 * (or the ledger's answer time, if longer), even if it stood still for hours. The same holds for a service profile that
 * is found wrong; the process that finds this stops at once. While the ledger cannot be read, nothing leaves.
 */
export class SendingPermission {
  readonly #parts: Required<PermissionParts>;
  #isSlow = false;
  readonly #holders = new Set<Holder>();
  #asking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor({ clock = steadyClock(), ...parts }: PermissionParts) {
    this.#parts = { ...parts, clock };
  }

  request(wanted: PermitRequest): SendingPermit {
    const holder = holderOf(wanted, this.#parts.clock());
    this.#holders.add(holder);
    this.#timer ??= setInterval(() => void this.#ask(), ASK_EVERY_MS).unref();
    return {
      withdrawn: holder.withdrawn,
      isValid: () => this.#isValid(holder),
      confirm: () => this.#confirm(holder),
      stoppedBecause: () => holder.stop,
      close: () => this.#leave(holder),
    };
  }

  #leave(holder: Holder): void {
    holder.withdrawal.abort();
    clearTimeout(holder.timer);
    this.#holders.delete(holder);
    if (this.#holders.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #isValid({ withdrawn, ends, until }: Holder): boolean {
    const { clock, calibration } = this.#parts;
    return !withdrawn.aborted && clock() <= Math.min(ends, until) && calibration.stoppedHere() === null;
  }

  async #confirm(holder: Holder): Promise<boolean> {
    while (!holder.withdrawn.aborted && this.#parts.clock() <= holder.ends) {
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

  /** Warns about a slow ledger once, until the ledger is fast again. */
  #noteAnswerTime(answerMs: number): void {
    if (answerMs > SLOW_ANSWER_MS && !this.#isSlow)
      this.#parts.log.warn('the ledger is slow to answer, so a pause or cancel may take longer than a second', {
        answerMs,
      });
    this.#isSlow = answerMs > SLOW_ANSWER_MS;
  }

  #ask(): Promise<void> {
    return (this.#asking ??= this.#look().finally(() => (this.#asking = null)));
  }

  async #look(): Promise<void> {
    const concerned = [...this.#holders];
    if (concerned.length === 0) return;
    const askedAt = this.#parts.clock();
    try {
      const batchIds = [...new Set(concerned.flatMap(({ batch }) => batch?.batchId ?? []))];
      const asked = await timelyAnswer(this.#parts.clock, () =>
        Promise.all([this.#parts.ledger.sendingBatches(batchIds), this.#parts.calibration.stopped()]),
      );
      if (asked === null) return;
      this.#noteAnswerTime(this.#parts.clock() - askedAt);
      const [found, stop] = asked.answer;
      const sending = new Map(found.map((batch) => [batch.batchId, batch]));
      for (const holder of concerned)
        if (!holds(holder, sending)) holder.withdrawal.abort(BATCH_STOPPED);
        else if (stop !== null) stopForGood(holder, stop);
        else holder.until = asked.until;
    } catch {
      // The ledger is away: its last answer becomes too old, and nothing leaves.
    }
  }
}

/** Sets the reason first, because listeners of the withdrawal read it. */
function stopForGood(holder: Holder, stop: Reason): void {
  if (holder.withdrawn.aborted) return;
  holder.stop = stop;
  holder.withdrawal.abort();
}

/** Creates a holder. A POST that waits for its turn, the rate or the ledger ends with the attempt. */
function holderOf({ batch, lastsMs, over }: PermitRequest, now: number): Holder {
  const withdrawal = new AbortController();
  const withdrawn = AbortSignal.any([withdrawal.signal, over]);
  // Each waiting POST listens to this signal.
  setMaxListeners(0, withdrawn);
  const timer = setTimeout(() => withdrawal.abort(), lastsMs).unref();
  const isOver = new Promise<void>((resolve) => withdrawn.addEventListener('abort', () => resolve(), { once: true }));
  const times = { ends: now + lastsMs, until: Number.NEGATIVE_INFINITY };
  return { batch, withdrawal, withdrawn, timer, isOver, ...times, stop: null };
}

function holds({ batch }: Holder, sending: ReadonlyMap<string, SendingBatch>): boolean {
  if (batch === undefined) return true;
  const holder = sending.get(batch.batchId);
  return holder?.workflowId === batch.run.workflowId && holder.runId === batch.run.runId;
}

/** A POST may leave for this long after Lote asked the ledger. Together with its way to the wire, this is less than a second. */
const VALID_MS = 500;
/** After an answer that took longer than that, a POST may still leave for this long; otherwise no POST would ever leave. */
const VALID_AFTER_SLOW_ANSWER_MS = 200;
const TICK_MS = 50;

/**
 * Asks, and returns until when a POST may leave by the answer, on the same clock. Returns null if this process stood
 * still meanwhile, because the answer may then be of any age. The answers of a slow ledger count.
 * @throws what the question throws
 */
export async function timelyAnswer<Answer>(
  clock: () => number,
  ask: () => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly until: number } | null> {
  const at = clock();
  let lastTick = at;
  let hasStood = false;
  const tick = (): void => {
    const now = clock();
    hasStood ||= now - lastTick > VALID_MS;
    lastTick = now;
  };
  const timer = setInterval(tick, TICK_MS).unref();
  try {
    const answer = await ask();
    tick();
    return hasStood ? null : { answer, until: Math.max(at + VALID_MS, lastTick + VALID_AFTER_SLOW_ANSWER_MS) };
  } finally {
    clearInterval(timer);
  }
}

/** Restricts a permit by a condition, which is checked again in the moment before the first byte, after any wait. */
export function restricted(permit: DeparturePermit, isMet: () => boolean): DeparturePermit {
  const isValid = (): boolean => isMet() && permit.isValid();
  return {
    withdrawn: permit.withdrawn,
    isValid,
    confirm: async () => isMet() && (await permit.confirm()) && isValid(),
  };
}

/**
 * Restricts a permit to an invoice whose generation the ledger has not stopped. It stops one when an earlier document of the
 * invoice is issued after all. Most invoices have no earlier document; for the others, Lote asks the ledger before each POST.
 */
export function permitOfGeneration(
  { ledger, now }: { readonly ledger: Pick<Ledger, 'isBeingSent'>; readonly now: () => number },
  { invoiceId, generation, idempotencyKey }: Pick<SendableInvoice, 'invoiceId' | 'generation' | 'idempotencyKey'>,
  permit: DeparturePermit,
): DeparturePermit {
  if (generation === 1) return permit;
  let until = Number.NEGATIVE_INFINITY;
  return {
    withdrawn: permit.withdrawn,
    isValid: () => now() <= until && permit.isValid(),
    async confirm() {
      const asked = await timelyAnswer(now, () => ledger.isBeingSent(invoiceId, generation, idempotencyKey));
      if (asked?.answer === false) return false;
      until = asked?.until ?? Number.NEGATIVE_INFINITY;
      return permit.confirm();
    },
  };
}
