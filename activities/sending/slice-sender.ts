import { setTimeout as sleep } from 'node:timers/promises';
import { LONGEST_PROBE_MS } from '../../src/domain/time/instants.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { PageWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver } from '../failure.ts';
import { eachTaken, sharedAnswer } from '../../src/platform/concurrency.ts';
import type { CircuitBreaker, Waiting } from './circuit-breaker.ts';
import type { FailureWatch } from './budgets.ts';
import {
  ForbiddenRun,
  holdForbiddenMerchants,
  isForbidden,
  REFUSED_ACCESS,
  refuseForbidden,
} from './forbidden-invoices.ts';
import { distrustIds } from './earlier-key.ts';
import { FrozenSupply, putBack, type FrozenInvoice } from './frozen-supply.ts';
import { BATCH_STOPPED, permitOfGeneration, restricted, type SendingPermit } from './sending-permission.ts';
import { RetentionWindow } from './retention-window.ts';
import { sendInvoice, type SendDeps, type Sent } from './send-invoice.ts';
import type { StoredErrors } from './stored-errors.ts';
import type { SendableInvoice } from '../../src/ledger/sending/sending.ts';
import type { AnswerCounts } from '../../src/domain/answer-counts.ts';
import type { ClaimingRun } from '../../src/domain/records/batch-record.ts';
import type { SendOutcome } from '../../src/ledger/sending/record-answers.ts';

/** A slice leaves the wait for a longer Retry-After to the page. */
const SHORTEST_PAGE_WAIT_MS = 1_000;
/** After a probe in vain, a slice leaves the next probe to another slice: all of its own invoices may have one merchant. */
const AFTER_VAIN_PROBE_MS = 2_000;
/** Invoices under way for each request that the service takes at a time: further POSTs leave while answers wait to be recorded. */
const LANES_OF_A_POST = 4;
/** If the service takes fewer POSTs at a time, each POST waits until the previous answer is recorded and judged. */
const FEW_POSTS = 16;
const NOT_ITS_TURN: Reason = { code: 'not-sent-yet', message: 'Not sent yet: other invoices went first.' };
const STOPPED: Reason = { code: 'sending-stopped', message: 'Not sent yet: the batch was stopped before its turn.' };

/** Parts that all slices of a process share, so that Lote recognises trouble in a row. */
export interface ProcessParts {
  readonly circuit: CircuitBreaker;
  readonly storedErrors: StoredErrors;
  /** Whether the service has answered a POST of this process. Until then a slice sends its first invoice alone. */
  readonly heard: { isAny: boolean };
}

/** The parts that a slice works with. */
export interface SliceParts extends ProcessParts {
  readonly permit: SendingPermit;
  readonly failures: FailureWatch;
}

/** The work of one slice. */
export interface SliceWork {
  readonly input: SliceInput;
  /** The slice starts nothing new after this time, in epoch milliseconds. */
  readonly until: number;
  /** The invoices in sending order. */
  readonly sendable: readonly SendableInvoice[];
  /** The slice sends its first invoice alone, to see whether the service is back. */
  readonly isProbing: boolean;
}

/** Sends the invoices of one slice, several at a time, and judges every answer for invoice, merchant, service and batch. */
export class SliceSender {
  readonly #deps: ActivityDeps;
  readonly #parts: SliceParts;
  readonly #work: SliceWork;
  readonly #supply: FrozenSupply;
  readonly #sendDeps: SendDeps;
  readonly #over: AbortSignal;
  /** The invoice sent alone first. */
  #probe: SendableInvoice | null = null;
  /** Taken but never POSTed. */
  readonly #unsent: SendableInvoice[] = [];
  readonly #count = { posts: 0, accepted: 0, left: 0, refused: 0 };
  /** Invoices whose answers are still to come. */
  #underWay = 0;
  readonly #forbidden: ForbiddenRun;
  #retryAfterMs = 0;

  constructor(deps: ActivityDeps, parts: SliceParts, work: SliceWork) {
    const { circuit, storedErrors, permit } = parts;
    this.#deps = deps;
    this.#parts = parts;
    this.#work = work;
    this.#over = attemptOver();
    this.#supply = new FrozenSupply(deps, work.input.batchId, work.sendable);
    this.#forbidden = new ForbiddenRun(new Set(work.sendable.map(({ invoice }) => invoice.merchant.nif)).size);
    this.#sendDeps = {
      ...deps,
      storedErrors,
      permitOf: (invoice) => {
        const mayLeave = restricted(permit, () => !this.#isHalted(invoice));
        return permitOfGeneration(deps, invoice, mayLeave);
      },
      mayLeave: (invoice) => !this.#isHalted(invoice),
      pause: (ms) => sleep(ms, undefined, { signal: permit.withdrawn }).catch(() => undefined),
      answered: async (answer, { sentAt, key }) => {
        parts.heard.isAny ||= answer.kind !== 'not-permitted';
        // A single 403 may concern one merchant, so `ForbiddenRun` judges these answers together.
        if (answer.kind !== 'access-denied' || isForbidden(answer.reason)) await deps.calibration.posted(answer, key);
        else await circuit.trip(answer.reason, sentAt);
      },
      stopped: () => this.#isOpen(),
      window: new RetentionWindow(deps),
      // Shared, because many stored errors at once would each ask the same.
      serviceAnswers: sharedAnswer(async () => (await deps.service.listMerchants(this.#over)).kind !== 'unreadable'),
    };
  }

  async send(): Promise<SliceResult> {
    try {
      await this.#sendAll();
    } catch (error) {
      // An invoice that cannot be put back counts as possibly sent.
      await this.#putBackUnsent().catch(() => undefined);
      throw error;
    }
    await this.#endForbiddenRun();
    await this.#putBackUnsent();
    return this.#result();
  }

  async #sendAll(): Promise<void> {
    const { sendable, isProbing } = this.#work;
    if (isProbing || !this.#parts.heard.isAny) await this.#sendFirst(isProbing);
    const lanes = Math.min(sendable.length, lanesOf(this.#deps.settings.maxConcurrency));
    const next = () => (this.#isOver() || this.#isOpen() ? null : this.#supply.take());
    await eachTaken(next, lanes, (frozen) => this.#sendOne(frozen));
  }

  async #sendFirst(isProbe: boolean): Promise<void> {
    const frozen = await this.#supply.take();
    if (isProbe) this.#probe = frozen?.invoice ?? null;
    if (frozen !== null) await this.#sendOne(frozen);
    else if (isProbe) await this.#parts.circuit.giveBack();
  }

  async #sendOne({ invoice, body }: FrozenInvoice): Promise<void> {
    try {
      if (this.#isHalted(invoice)) return await this.#leave(invoice);
      this.#underWay += 1;
      const sent = await sendInvoice(this.#sendDeps, invoice, body).finally(() => (this.#underWay -= 1));
      await this.#record(invoice, sent);
    } catch (error) {
      // A waiting POST must not leave any more, because its answer could not be recorded either.
      this.#parts.permit.close();
      throw error;
    }
  }

  async #record(invoice: SendableInvoice, sent: Sent): Promise<void> {
    const { invoiceId } = invoice;
    const { attempts, sentAt, answeredAt, outcome, generation = invoice.generation } = sent;
    this.#count.posts += attempts;
    if (outcome === null) return this.#leave(invoice);
    const idempotencyKey = generation === invoice.generation ? invoice.idempotencyKey : undefined;
    const answer = { invoiceId, generation, idempotencyKey, attempts, sentAt, answeredAt, outcome };
    const idsTaken = await this.#deps.ledger.recordSends([answer], this.#underWay === 0);
    if (idsTaken > 0) await distrustIds(this.#deps, idsTaken);
    await this.#judge(invoice, sent, outcome);
    await this.#parts.failures.look();
  }

  async #leave(invoice: SendableInvoice): Promise<void> {
    this.#unsent.push(invoice);
    if (invoice === this.#probe) await this.#parts.circuit.giveBack();
  }

  #isOpen(): boolean {
    return this.#parts.circuit.refusedBecause() !== null;
  }

  /** Returns whether the slice must send nothing more. */
  #isOver(): boolean {
    const { permit, failures } = this.#parts;
    const isStopped = permit.withdrawn.aborted || failures.spent || this.#over.aborted;
    return isStopped || this.#deps.calibration.stoppedHere() !== null || this.#deps.now() > this.#work.until;
  }

  #isHalted(invoice: SendableInvoice): boolean {
    if (this.#isOver() || this.#forbidden.isHeldBack(invoice)) return true;
    return this.#isOpen() && invoice !== this.#probe;
  }

  /** Judges what the answer says about the service, the merchant and the batch. */
  async #judge(invoice: SendableInvoice, sent: Sent, { kind }: SendOutcome): Promise<void> {
    this.#retryAfterMs = Math.max(this.#retryAfterMs, sent.retryAfterMs ?? 0);
    if (kind === 'pending' || kind === 'next-key') this.#count.left += 1;
    if (kind === 'accepted') {
      this.#count.accepted += 1;
      const refused = this.#forbidden.succeeded(invoice, sent.lastSentAt);
      if (refused.length > 0) await this.#refuse(refused);
      await this.#parts.circuit.succeeded(sent.lastSentAt);
      return;
    }
    if (kind === 'rejected') await this.#countRefusal();
    if (sent.attempts > 0) await this.#judgeService(invoice, sent);
    // The retention window of the invoice ended before a POST left, which proves nothing about the service.
    else if (invoice === this.#probe) await this.#parts.circuit.giveBack();
  }

  /** Judges what an answer that accepts nothing says about the whole service. */
  async #judgeService(invoice: SendableInvoice, { trouble, lastSentAt, answeredAt }: Sent): Promise<void> {
    const { circuit } = this.#parts;
    if (trouble === null) return circuit.succeeded(lastSentAt);
    // The profile may read a 403 as `later` or `lost`; such a 403 is trouble like any other.
    if (trouble.accessDenied && isForbidden(trouble.reason)) {
      const denied = this.#forbidden.forbidden(invoice, answeredAt);
      if (denied || this.#isOpen()) await circuit.trip(REFUSED_ACCESS, lastSentAt);
      return;
    }
    // While the circuit is open, the result of the probe counts in any case.
    const counts = !trouble.own || this.#isOpen();
    if (!trouble.accessDenied && counts) await circuit.troubled(trouble.reason, lastSentAt);
  }

  async #refuse(invoices: readonly SendableInvoice[]): Promise<void> {
    if (invoices.length === 0) return;
    await refuseForbidden(this.#deps, invoices);
    this.#count.left -= invoices.length;
    for (const _ of invoices) await this.#countRefusal();
  }

  async #countRefusal(): Promise<void> {
    this.#count.refused += 1;
    await this.#parts.failures.refused(this.#count.refused);
  }

  /** If the circuit has opened meanwhile, the cause of the last 403s is unknown. */
  async #endForbiddenRun(): Promise<void> {
    if (this.#isOpen()) return;
    const { refused, accessDenied } = this.#forbidden.end(this.#count.accepted);
    await this.#refuse(refused);
    if (accessDenied) await this.#parts.circuit.trip(REFUSED_ACCESS, this.#deps.now());
  }

  async #putBackUnsent(): Promise<void> {
    const { circuit, permit } = this.#parts;
    const leftover = await this.#supply.end();
    const idle = [...this.#unsent, ...leftover.idle];
    this.#count.left += idle.length + leftover.others;
    const isStopped = permit.withdrawn.reason === BATCH_STOPPED;
    const reason = circuit.refusedBecause() ?? this.#stoppedForGood() ?? (isStopped ? STOPPED : NOT_ITS_TURN);
    await putBack(this.#deps, this.#work.input.batchId, { idle, reason });
  }

  async #result(): Promise<SliceResult> {
    const { failures } = this.#parts;
    const { posts, accepted, left, refused } = this.#count;
    if (!this.#isOpen()) {
      await holdForbiddenMerchants(this.#deps, this.#work.input, this.#forbidden.refusedMerchants());
    }
    const stop = (refused > 0 || failures.spent) && (await failures.hold());
    const waiting = left === 0 ? null : await this.#waiting();
    // The slice could send nothing in all of its time, for example because other workers have every permit.
    return { accepted, left, stop, waiting, ...(posts === 0 && { triedMs: 0 }) };
  }

  #stoppedForGood(): Reason | null {
    return this.#parts.permit.stoppedBecause() ?? this.#deps.calibration.stoppedHere();
  }

  /** Returns what the page waits for before it sends again; null for nothing. */
  async #waiting(): Promise<Waiting | null> {
    const asked = this.#retryAfterMs < SHORTEST_PAGE_WAIT_MS ? null : this.#retryAfterMs;
    const reason = this.#parts.circuit.refusedBecause() ?? this.#stoppedForGood();
    if (reason !== null) {
      const record = await this.#deps.ledger.breaker(this.#deps.service.baseUrl);
      const inVain = this.#probe === null ? 0 : AFTER_VAIN_PROBE_MS;
      const untilProbe =
        record === null ? 0 : Math.min(record.probeAfter - this.#deps.now(), LONGEST_PROBE_MS) + inVain;
      return { reason: reason.code, probeAfterMs: Math.max(untilProbe, asked ?? 0, SHORTEST_PAGE_WAIT_MS) };
    }
    return asked === null ? null : { reason: 'retry-after', probeAfterMs: asked };
  }
}

function lanesOf(maxConcurrency: number): number {
  return maxConcurrency < FEW_POSTS ? maxConcurrency : maxConcurrency * LANES_OF_A_POST;
}

/** The input of one activity: neighbouring invoices of a page, by their ordinals. */
export interface SliceInput extends PageWork {
  readonly from: number;
  readonly to: number;
  /** The run that holds the batch's claim. */
  readonly run: ClaimingRun;
  /** The batch's answers from before its round began. Optional: the default is none. */
  readonly before?: AnswerCounts | undefined;
}

/** Result of a slice; `accepted` and `left` are numbers of invoices. */
export interface SliceResult {
  /** Accepted by this slice. */
  readonly accepted: number;
  /** Still to be sent, with the same keys and bytes. */
  readonly left: number;
  /** The rest of the batch is held: the page sends nothing more. */
  readonly stop: boolean;
  /** Time in which the slice could send, in milliseconds; 0 or left out if it could send nothing. */
  readonly triedMs?: number;
  /** Trouble of the whole service: the page sleeps, and then asks again. */
  readonly waiting: Waiting | null;
}
