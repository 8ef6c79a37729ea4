import { setTimeout as sleep } from 'node:timers/promises';
import { DELIVERIES_UNPROVEN, type NotedMisfit } from '../../domain/profile-misfit.ts';
import type { RecordDelivery } from '../../domain/ports/ledger/delivery-ledger.ts';
import type { ReceiverShapes } from '../judge-delivery.ts';
import type { SignatureRefusal } from '../signature/refusal.ts';
import { EVENTS_UNKNOWN, EVENTS_UNREADABLE, unknownAdvice, unreadableAdvice } from './event-advice.ts';
import { createRefusedSamples, SAMPLE_BODY_LIMIT, type KeepSample } from './refused-samples.ts';
import { DELIVERIES_REFUSED, refusalAdvice } from './refusal-advice.ts';

/** Where findings of a receiver go, and what it asks for them. */
export interface MisfitBook {
  note(items: readonly NotedMisfit[]): Promise<void>;
  clear(code: string): Promise<void>;
  /** How many of these ids are of invoices that the ledger knows. */
  knownIds(ids: readonly string[]): Promise<number>;
}

/** What a watch is made of. Times are milliseconds. */
export interface MisfitWatchOptions {
  readonly book: MisfitBook;
  readonly shapes: ReceiverShapes;
  /** The registered address; null: not known. */
  readonly url: () => string | null;
  readonly secrets: () => Promise<readonly string[]>;
  readonly now: () => number;
  readonly random?: () => number;
  /** How soon the first finding is told, and how long after it the next one. */
  readonly firstMs?: number;
  readonly everyMs?: number;
}

/** Finds out from deliveries, beside their answers, where profile or secret do not fit the service. */
export interface MisfitWatch {
  /** Whether this refused delivery is to be kept; null: no. */
  claim(address: string): KeepSample | null;
  refused(why: SignatureRefusal): void;
  /** A delivery that fits, as it was stored. */
  fitted(deliveries: readonly RecordDelivery[]): void;
  /** Ends the watch; resolves when a round that has begun is over. */
  close(): Promise<void>;
}

/** Before the first invoices of a batch are polled, so that a finding is told before the rest of them is sent. */
const FIRST_MS = 500;
const EVERY_MS = 60_000;
/** Signed deliveries that cannot be read, and events that say nothing final: fewer may be a greeting of the service. */
const UNREADABLE_FROM = 3;
const UNKNOWN_FROM = 5;
const MOST_TYPES = 3;

/** Starts a watch; it costs a delivery a few counters, and does its work at most once a minute. */
export function createMisfitWatch(options: MisfitWatchOptions): MisfitWatch {
  return new Watch(options);
}

class Watch implements MisfitWatch {
  readonly #options: MisfitWatchOptions;
  readonly #samples;
  readonly #ending = new AbortController();
  #running: Promise<void> | null = null;
  /** Something came after the round that runs began to count. */
  #cameLater = false;
  #nextAt: number;
  /** Refusals since a delivery fitted, and those among them that were told. */
  readonly #refused = new Map<SignatureRefusal, number>();
  #toldRefusals = 0;
  #fittedEver = false;
  /** A delivery has fitted since the last round: what else came is a stranger's, or late. */
  #fittedInRound = false;
  /** Rounds in a row that found refusals and could say nothing of them: the next one comes soon, for a batch may be over in a minute. */
  #roundsInVain = 0;
  /** A finding may stand in the ledger, of this process or of an earlier one. */
  #mayClear = { refusals: true, events: true };
  #read = false;
  #unreadable = 0;
  #unknown = 0;
  #toldEvents = 0;
  #unreadableSample: Uint8Array | null = null;
  readonly #types = new Set<string>();

  constructor(options: MisfitWatchOptions) {
    this.#options = options;
    this.#samples = createRefusedSamples(options.random ?? Math.random);
    this.#nextAt = options.now();
  }

  claim(address: string): KeepSample | null {
    return this.#ending.signal.aborted ? null : this.#samples.claim(address);
  }

  refused(why: SignatureRefusal): void {
    this.#refused.set(why, (this.#refused.get(why) ?? 0) + 1);
    this.#soon();
  }

  fitted(deliveries: readonly RecordDelivery[]): void {
    this.#fittedEver = true;
    this.#fittedInRound = true;
    if (this.#refused.size > 0) {
      this.#refused.clear();
      this.#toldRefusals = 0;
    }
    if (!this.#read) this.#look(deliveries);
    const aboutEvents = this.#read ? this.#mayClear.events : this.#unreadable + this.#unknown > this.#toldEvents;
    if (this.#mayClear.refusals || aboutEvents) this.#soon();
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  /** Until one event says something final: then the profile reads them. */
  #look(deliveries: readonly RecordDelivery[]): void {
    for (const { event, raw } of deliveries) {
      if (event === null) {
        this.#unreadable += 1;
        if (raw.byteLength <= SAMPLE_BODY_LIMIT) this.#unreadableSample ??= raw;
      } else if (event.verdict !== null) this.#read = true;
      else if (event.serviceId !== null) {
        this.#unknown += 1;
        if (this.#types.size < MOST_TYPES) this.#types.add(event.type);
      }
    }
    if (!this.#read) return;
    this.#unreadable = 0;
    this.#unknown = 0;
    this.#toldEvents = 0;
    this.#unreadableSample = null;
  }

  #soon(): void {
    this.#cameLater = true;
    this.#running ??= this.#round().finally(() => {
      this.#running = null;
      // Nobody knows whether another delivery will come that would start a round.
      if (this.#cameLater && !this.#ending.signal.aborted) this.#soon();
    });
  }

  async #round(): Promise<void> {
    const { now, firstMs = FIRST_MS, everyMs = EVERY_MS } = this.#options;
    const wait = Math.max(firstMs, this.#nextAt - now());
    await sleep(wait, undefined, { ref: false, signal: this.#ending.signal }).catch(() => undefined);
    // Rounds of long ago say nothing of what comes now.
    if (now() - this.#nextAt > everyMs) this.#roundsInVain = 0;
    this.#nextAt = now() + everyMs;
    if (this.#ending.signal.aborted) return;
    this.#cameLater = false;
    // The ledger may be away: what was counted is told in the next round.
    const refusalsSayNothing = await this.#judgeRefusals().catch(() => false);
    const eventsSayNothing = await this.#judgeEvents().catch(() => false);
    this.#roundsInVain = refusalsSayNothing ? this.#roundsInVain + 1 : 0;
    if (eventsSayNothing) this.#nextAt = now() + firstMs;
    else if (refusalsSayNothing) this.#nextAt = now() + Math.min(firstMs * 2 ** this.#roundsInVain, everyMs);
  }

  /** True: the refusals are too few to say anything yet. */
  async #judgeRefusals(): Promise<boolean> {
    const { book, shapes, url, secrets, now } = this.#options;
    const samples = this.#samples.take();
    const times = [...this.#refused.values()].reduce((sum, count) => sum + count, 0);
    const fitted = this.#fittedInRound;
    this.#fittedInRound = false;
    if (times === 0 || fitted) {
      if (!this.#fittedEver || !this.#mayClear.refusals) return false;
      await book.clear(DELIVERIES_REFUSED);
      await book.clear(DELIVERIES_UNPROVEN);
      this.#mayClear = { ...this.#mayClear, refusals: false };
      return false;
    }
    const found = await refusalAdvice({
      ...{ samples, shape: shapes.signature, idPrefix: shapes.idPrefix, url: url(), secrets: await secrets() },
      ...{ refused: new Map(this.#refused), neverFitted: !this.#fittedEver, knownIds: book.knownIds },
    });
    if (found === null || this.#refused.size === 0) return found === null;
    this.#mayClear = { ...this.#mayClear, refusals: true };
    await book.note([{ ...found, times: times - this.#toldRefusals, at: now() }]);
    this.#toldRefusals = times;
    return false;
  }

  /** True: the events are too few to say anything yet. */
  async #judgeEvents(): Promise<boolean> {
    const { book, shapes, now } = this.#options;
    if (this.#read) {
      if (!this.#mayClear.events) return false;
      await book.clear(EVENTS_UNREADABLE);
      await book.clear(EVENTS_UNKNOWN);
      this.#mayClear = { ...this.#mayClear, events: false };
      return false;
    }
    const [unreadable, unknown] = [this.#unreadable, this.#unknown];
    const times = unreadable + unknown - this.#toldEvents;
    if (times <= 0) return false;
    const at = now();
    if (unreadable >= UNREADABLE_FROM && unknown === 0)
      await book.note([
        { code: EVENTS_UNREADABLE, message: unreadableAdvice(shapes, unreadable, this.#unreadableSample), times, at },
      ]);
    else if (unknown >= UNKNOWN_FROM)
      await book.note([{ code: EVENTS_UNKNOWN, message: unknownAdvice(unknown, [...this.#types]), times, at }]);
    else return true;
    this.#toldEvents = unreadable + unknown;
    return false;
  }
}
