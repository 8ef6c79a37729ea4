import { setTimeout as sleep } from 'node:timers/promises';
import { createSemaphore, type Release, type Semaphore } from '../../src/concurrency/semaphore.ts';
import { LONGEST_PROBE_MS } from '../../src/domain/circuit-reasons.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { SendableInvoice, SendOutcome } from '../../src/domain/ports/ledger/sending-ledger.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver } from '../attempt-over.ts';
import { eachTaken } from '../../src/concurrency/each-of.ts';
import { sharedAnswer } from '../../src/concurrency/shared-answer.ts';
import type { KeyDelays } from './key-delays.ts';
import type { CircuitBreaker, Waiting } from './circuit-breaker.ts';
import { readBudget } from './budgets/failure-budget.ts';
import type { FailureWatch } from './budgets/failure-watch.ts';
import type { FirstAnswers } from './first-answers.ts';
import { holdForbiddenMerchants, isForbidden, REFUSED_ACCESS, refuseForbidden } from './forbidden-invoices.ts';
import { createForbiddenRun, type ForbiddenRun } from './forbidden-run.ts';
import { putBack, putBackWaiting } from './freeze-bodies.ts';
import { FrozenSupply, type FrozenInvoice } from './frozen-supply.ts';
import { permitOfGeneration } from './later-generation.ts';
import { retentionWindow } from './retention-window.ts';
import { holdOverRetries } from './budgets/retry-budget.ts';
import type { SliceInput, SliceResult } from './slice.ts';
import { sendInvoice, type SendDeps, type Sent } from './send-invoice.ts';
import { WITHDRAWN, type SendingPermit } from './sending-permission.ts';
import type { StoredErrors } from './stored-errors.ts';

/** Answers with a longer Retry-After than a slice may wait for are the page's to wait for. */
const SHORTEST_PAGE_WAIT_MS = 1_000;
/** A slice that has probed in vain lets others have the next probe: all of its invoices may be of one merchant. */
const AFTER_VAIN_PROBE_MS = 2_000;
/** So long waits a page behind an open circuit for invoices of which none may be repeated yet. */
const NONE_IS_DUE_MS = 5_000;
/**
 * Refusals of a slice after which the budget is read for the first time, and then at each doubling: counting a batch is
 * not free.
 */
const FIRST_BUDGET_READ = 16;
/**
 * Invoices on their way in a slice, for each that may be tried at the same time: an answer waits for company before it is
 * recorded, ten times as long as a fast service takes to give it, and leaves its place to the next invoice meanwhile.
 */
const LANES_OF_A_POST = 4;
/** A service that takes fewer POSTs at a time gets the next one when the answer before is recorded and judged. */
const FEW_POSTS = 16;
/**
 * An answer that accepts, and after which others of the slice are still to come, waits for them before it is recorded:
 * of a service that takes twenty a second, fifteen statements in sixteen are saved. Until it is recorded, its invoice is
 * one whose answer is still to come, as after a crash.
 */
const PATIENCE_MS = 1_000;
const NOT_ITS_TURN: Reason = { code: 'not-sent-yet', message: 'Not sent yet: other invoices went first.' };
const STOPPED: Reason = { code: 'sending-stopped', message: 'Not sent yet: the batch was stopped before its turn.' };

/** What all slices of one process share, so that trouble in a row is seen as such. */
export interface ProcessParts {
  readonly circuit: CircuitBreaker;
  readonly storedErrors: StoredErrors;
  readonly firstAnswers: FirstAnswers;
  readonly keyDelays: KeyDelays;
  /** Limits the POSTs of all slices together. What waits for a permit can still be stopped when the circuit opens. */
  readonly concurrency: Semaphore;
}

/** What a slice works with. */
export interface SliceParts extends ProcessParts {
  readonly permit: SendingPermit;
  readonly failures: FailureWatch;
}

/** An invoice that waits, and what the service said of its key. */
export interface WaitingInvoice {
  readonly invoice: SendableInvoice;
  readonly reason: Reason;
}

/** What one slice has to send. */
export interface SliceWork {
  readonly input: SliceInput;
  /** Nothing new is started after this, in epoch milliseconds. */
  readonly until: number;
  /** In the order in which they go. */
  readonly sendable: readonly SendableInvoice[];
  /** Handed out, and not to be repeated yet by what the service has said of their keys. */
  readonly notYet: readonly WaitingInvoice[];
  /** The first one is sent alone, to see whether the service is back. */
  readonly isProbing: boolean;
}

/**
 * Sends the invoices of one slice, several at a time, and judges every answer: what it says of the invoice, its
 * merchant, the service and the batch.
 */
export class SliceSender {
  readonly #deps: ActivityDeps;
  readonly #parts: SliceParts;
  readonly #work: SliceWork;
  readonly #supply: FrozenSupply;
  readonly #sendDeps: SendDeps;
  readonly #over: AbortSignal;
  /** Held over the pauses between tries, so that a service in trouble gets no more invoices than it takes POSTs. */
  readonly #trying: Semaphore;
  /** Sent alone first. */
  #probe: SendableInvoice | null = null;
  /** Handed out, and nothing of it left. */
  readonly #idle: SendableInvoice[] = [];
  readonly #count = { posts: 0, accepted: 0, left: 0, refused: 0, repeats: 0 };
  /** Whose answers are still to come. */
  #underWay = 0;
  readonly #forbidden: ForbiddenRun;
  #retryAfterMs = 0;
  #stop = false;
  #nextBudgetRead = FIRST_BUDGET_READ;

  constructor(deps: ActivityDeps, parts: SliceParts, work: SliceWork) {
    const { circuit, firstAnswers, storedErrors, permit } = parts;
    this.#deps = deps;
    this.#parts = parts;
    this.#work = work;
    this.#over = attemptOver();
    this.#trying = createSemaphore(deps.settings.maxConcurrency);
    this.#supply = new FrozenSupply(deps, work.input.batchId, work.sendable);
    this.#forbidden = createForbiddenRun(new Set(work.sendable.map(({ invoice }) => invoice.merchant.nif)).size);
    this.#sendDeps = {
      ...{ service: deps.service, random: deps.random, now: deps.now, storedErrors, permit },
      permitOf: (invoice) => permitOfGeneration(deps, invoice, permit),
      admit: (invoice) => this.#admit(invoice),
      pause: (ms) => sleep(ms, undefined, { signal: permit.withdrawn }).catch(() => undefined),
      answered: (answer, { sentAt, key, isFirst }) => {
        if (isFirst) deps.watch.created(answer);
        const unreadable = firstAnswers.note(answer, key);
        if (unreadable !== null) return circuit.trip(unreadable, sentAt);
        // A single 403 may be one merchant's; the run of them is judged answer by answer.
        if (answer.kind !== 'access-denied' || isForbidden(answer.reason)) return null;
        return circuit.trip(answer.reason, sentAt);
      },
      stopped: () => this.#isOpen(),
      window: retentionWindow(deps),
      // With many stored errors at once, each would ask the same.
      serviceAnswers: sharedAnswer(async () => (await deps.service.listMerchants(this.#over)).kind !== 'unreadable'),
    };
  }

  async send(): Promise<SliceResult> {
    try {
      await this.#sendAll();
    } catch (error) {
      // What cannot be put back counts as what may have been sent.
      await this.#putBackIdle().catch(() => undefined);
      throw error;
    }
    await this.#endForbiddenRun();
    await this.#putBackIdle();
    return this.#result();
  }

  async #sendAll(): Promise<void> {
    const { sendable, isProbing } = this.#work;
    if (isProbing) await this.#sendProbe();
    const lanes = Math.min(sendable.length, lanesOf(this.#deps.settings.maxConcurrency));
    const next = () => (this.#isOver() || this.#isOpen() ? null : this.#supply.take());
    await eachTaken(next, lanes, (frozen) => this.#sendOne(frozen));
  }

  async #sendProbe(): Promise<void> {
    const frozen = await this.#supply.take();
    if (frozen === null) return this.#parts.circuit.giveBack();
    this.#probe = frozen.invoice;
    await this.#sendOne(frozen);
  }

  async #sendOne(frozen: FrozenInvoice): Promise<void> {
    try {
      await this.#sendAndRecord(frozen);
    } catch (error) {
      // What waits for its turn must not leave any more: its answer could not be written down either.
      this.#parts.permit.close();
      throw error;
    }
  }

  async #sendAndRecord({ invoice, body }: FrozenInvoice): Promise<void> {
    if (this.#isHalted(invoice)) return this.#leave(invoice);
    const sent = await this.#try(invoice, body);
    const { invoiceId, generation } = invoice;
    const { attempts, sentAt, answeredAt, outcome, tries } = sent;
    this.#count.posts += attempts;
    if (invoice !== this.#probe) {
      this.#count.repeats += invoice.attempts === 0 ? Math.max(0, attempts - 1) : attempts;
    }
    if (outcome === null) return this.#leave(invoice);
    const answer = { invoiceId, generation, attempts, sentAt, answeredAt, outcome, tries };
    await this.#deps.ledger.recordSends([answer], this.#companyOf(invoice, outcome));
    const judging = this.#judge(invoice, sent, outcome);
    if (judging !== null) await judging;
    const looking = this.#parts.failures.look();
    if (looking !== null) await looking;
  }

  /** No patience where something is decided by the answer, or an invoice waits for the place of this one. */
  #companyOf(invoice: SendableInvoice, { kind }: SendOutcome): { patienceMs?: number; isLast?: boolean } {
    if (this.#underWay === 0) return { isLast: true };
    const { maxConcurrency } = this.#deps.settings;
    const isAwaited = kind !== 'accepted' || invoice === this.#probe || maxConcurrency < FEW_POSTS;
    return { patienceMs: isAwaited ? 0 : PATIENCE_MS };
  }

  async #try(invoice: SendableInvoice, body: string): Promise<Sent> {
    this.#underWay += 1;
    const release = this.#trying.tryAcquire() ?? (await this.#trying.acquire());
    try {
      return await sendInvoice(this.#sendDeps, invoice, body);
    } finally {
      this.#underWay -= 1;
      release?.();
    }
  }

  async #leave(invoice: SendableInvoice): Promise<void> {
    this.#idle.push(invoice);
    if (invoice === this.#probe) await this.#parts.circuit.giveBack();
  }

  #isOpen(): boolean {
    return this.#parts.circuit.refusedBecause() !== null;
  }

  /** Nothing more of the slice may be sent. */
  #isOver(): boolean {
    const { permit, failures } = this.#parts;
    const isStopped = permit.withdrawn.aborted || this.#stop || failures.spent || this.#over.aborted;
    return isStopped || this.#deps.now() > this.#work.until;
  }

  #isHalted(invoice: SendableInvoice): boolean {
    if (this.#isOver() || this.#forbidden.isHeldBack(invoice)) return true;
    return this.#isOpen() && invoice !== this.#probe;
  }

  #admit(invoice: SendableInvoice): Release | Promise<Release | null> {
    const release = this.#isHalted(invoice) ? null : this.#parts.concurrency.tryAcquire();
    return release ?? this.#waitForTurn(invoice);
  }

  async #waitForTurn(invoice: SendableInvoice): Promise<Release | null> {
    const release = await this.#parts.concurrency.acquire();
    if (!this.#isHalted(invoice)) return release;
    release?.();
    return null;
  }

  /** What the answer says; null: nothing more is to be done, as for nearly every invoice that is accepted. */
  #judge(invoice: SendableInvoice, sent: Sent, outcome: SendOutcome): Promise<void> | null {
    const { kind } = outcome;
    this.#retryAfterMs = Math.max(this.#retryAfterMs, sent.retryAfterMs ?? 0);
    if (outcome.kind === 'pending') this.#notePending(invoice, sent, outcome.reason);
    if (kind !== 'accepted') return this.#judgeOther(invoice, sent, kind);
    this.#count.accepted += 1;
    const refused = this.#forbidden.succeeded(invoice, sent.lastSentAt);
    return refused.length === 0
      ? this.#parts.circuit.succeeded(sent.lastSentAt)
      : this.#refuseEarlier(refused, sent.lastSentAt);
  }

  #notePending({ idempotencyKey }: SendableInvoice, { keyDelayMs, answeredAt }: Sent, reason: Reason): void {
    this.#count.left += 1;
    if (keyDelayMs === null) return;
    this.#parts.keyDelays.note(idempotencyKey, { until: answeredAt + keyDelayMs, reason }, answeredAt);
  }

  async #refuseEarlier(invoices: readonly SendableInvoice[], sentAt: number): Promise<void> {
    await this.#refuse(invoices);
    await this.#parts.circuit.succeeded(sentAt);
  }

  async #judgeOther(invoice: SendableInvoice, sent: Sent, kind: SendOutcome['kind']): Promise<void> {
    if (kind === 'rejected') await this.#countRefusal();
    if (sent.attempts > 0) return this.#judgeService(invoice, sent);
    // Its time was over before anything left, which says nothing of the service.
    if (invoice === this.#probe) await this.#parts.circuit.giveBack();
  }

  /** What an answer that accepts nothing says of the service as a whole. */
  async #judgeService(invoice: SendableInvoice, { trouble, lastSentAt, answeredAt }: Sent): Promise<void> {
    const { circuit } = this.#parts;
    if (trouble === null) {
      await circuit.succeeded(lastSentAt);
      return;
    }
    // The profile may read a 403 as `later` or as `lost`: such a one is trouble like any other.
    if (trouble.accessDenied && isForbidden(trouble.reason)) {
      const denied = this.#forbidden.forbidden(invoice, answeredAt) === 'access-denied';
      if (denied || this.#isOpen()) await circuit.trip(REFUSED_ACCESS, lastSentAt);
      return;
    }
    // A probe behind an open circuit reports back in any case.
    const counts = !trouble.own || this.#isOpen();
    if (!trouble.accessDenied && counts) await circuit.troubled(trouble.reason, lastSentAt);
  }

  async #refuse(invoices: readonly SendableInvoice[]): Promise<void> {
    if (invoices.length === 0) return;
    await refuseForbidden(this.#deps, invoices);
    this.#count.left -= invoices.length;
    for (let one = 0; one < invoices.length; one += 1) await this.#countRefusal();
  }

  async #countRefusal(): Promise<void> {
    this.#count.refused += 1;
    if (this.#count.refused !== this.#nextBudgetRead) return;
    this.#nextBudgetRead *= 2;
    const { spent } = await readBudget(this.#deps, this.#work.input);
    this.#stop ||= spent;
  }

  /** Behind a circuit that has opened meanwhile nobody can tell whose trouble the last 403s were. */
  async #endForbiddenRun(): Promise<void> {
    if (this.#isOpen()) return;
    const { refused, accessDenied } = this.#forbidden.end(this.#count.accepted);
    await this.#refuse(refused);
    if (accessDenied) await this.#parts.circuit.trip(REFUSED_ACCESS, this.#deps.now());
  }

  async #putBackIdle(): Promise<void> {
    const { circuit, permit } = this.#parts;
    const leftover = await this.#supply.end();
    const idle = [...this.#idle, ...leftover.idle];
    const { input, notYet } = this.#work;
    this.#count.left += idle.length + leftover.others + notYet.length;
    const isStopped = permit.withdrawn.reason === WITHDRAWN.batchStopped;
    const reason = circuit.refusedBecause() ?? permit.stoppedBecause() ?? (isStopped ? STOPPED : NOT_ITS_TURN);
    await putBack(this.#deps, input.batchId, { idle, reason });
    await putBackWaiting(this.#deps, notYet);
  }

  async #result(): Promise<SliceResult> {
    const { failures } = this.#parts;
    const { posts, accepted, left, refused, repeats } = this.#count;
    if (!this.#isOpen()) {
      await holdForbiddenMerchants(this.#deps, this.#work.input, this.#forbidden.refusedMerchants());
    }
    const overBudget = (refused > 0 || failures.spent) && (await failures.hold());
    const stop = (await holdOverRetries(this.#deps, this.#work.input, repeats)) || overBudget;
    // Nothing could leave for all of its time, such as where other workers have every permit.
    const tried = posts === 0 ? { triedMs: 0 } : {};
    return { accepted, left, stop, waiting: left === 0 ? null : await this.#waiting(), ...tried };
  }

  /** What the page waits for before it sends again; null: nothing. */
  async #waiting(): Promise<Waiting | null> {
    const asked = this.#retryAfterMs < SHORTEST_PAGE_WAIT_MS ? null : this.#retryAfterMs;
    const { circuit, permit } = this.#parts;
    const reason = circuit.refusedBecause() ?? permit.stoppedBecause();
    if (reason !== null) {
      const record = await this.#deps.ledger.breaker(this.#deps.service.baseUrl);
      const inVain = this.#probe === null ? 0 : AFTER_VAIN_PROBE_MS;
      const untilProbe =
        record === null ? 0 : Math.min(record.probeAfter - this.#deps.now(), LONGEST_PROBE_MS) + inVain;
      const atLeastMs = this.#work.sendable.length === 0 ? NONE_IS_DUE_MS : SHORTEST_PAGE_WAIT_MS;
      return { reason: reason.code, probeAfterMs: Math.max(untilProbe, asked ?? 0, atLeastMs) };
    }
    return asked === null ? null : { reason: 'retry-after', probeAfterMs: asked };
  }
}

function lanesOf(maxConcurrency: number): number {
  return maxConcurrency < FEW_POSTS ? maxConcurrency : maxConcurrency * LANES_OF_A_POST;
}
