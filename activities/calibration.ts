import {
  isOpen,
  PROFILE_CONTRADICTION,
  stopCalibration,
  takeFinding,
  takePlaces,
  type CalibrationPlace,
  type CalibrationState,
} from '../src/domain/calibration-state.ts';
import {
  isMisread,
  observePost,
  observeStatus,
  openIfProved,
  type AskedStatus,
  type CalibrationRules,
} from '../src/domain/calibration.ts';
import type { Reason } from '../src/domain/invoice.ts';
import { sharedAnswer } from '../src/platform/concurrency.ts';
import type { CreateAnswer, StatusAnswer } from '../src/domain/records/service-answers.ts';
import type { InvoicingService } from '../src/service/client.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { RecordDelivery } from '../src/ledger/webhooks/deliveries.ts';

export interface CalibrationDeps {
  readonly ledger: Pick<Ledger, 'calibration' | 'calibrate' | 'calibrationInvoices' | 'firstUnsent'>;
  readonly service: Pick<InvoicingService, 'getInvoice'>;
  readonly profileDigest: string;
  readonly rules: CalibrationRules;
  readonly log: Record<'info' | 'warn' | 'error', (message: string, fields?: Record<string, unknown>) => void>;
  readonly now: () => number;
}

/** An answer to the GET of an invoice, with the verdict of a stored event; null if no event has come. */
export type AskedInvoice = Omit<AskedStatus, 'answer' | 'at'> & { readonly answer: StatusAnswer };

/** How long a process relies on its last reading, in milliseconds. */
const FRESH_MS = 200;
const WORDS_FRESH_MS = 1_000;
/** After this many answers about one type of events, Lote asks only once per `RARELY_MS`. */
const QUICK_ANSWERS = 40;
const RARELY_MS = 5_000;
/** Number of unsent invoices of a slice to read: those that have a place, and candidates for one. */
const CANDIDATES = 41;

const BEHIND_STOP: StatusAnswer = {
  kind: 'not-now',
  reason: { code: PROFILE_CONTRADICTION, message: 'The words of the service profile contradict the service' },
  retryAfterMs: null,
};

/** What the receiver and the activities of one process know of the calibration of the service profile. Methods reject only if the ledger does. */
export class Calibration {
  readonly #deps: CalibrationDeps;
  #state: CalibrationState | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The last question about a type of events; the next question waits for its end. */
  #questioned: Promise<unknown> = Promise.resolve();
  /** Questions by type of events. */
  readonly #questions = new Map<string, { asked: number; notBefore: number }>();
  readonly #logged = new Set<string>();
  readonly #read = sharedAnswer(async () => this.#keep(await this.#deps.ledger.calibration(this.#deps.profileDigest)));

  constructor(deps: CalibrationDeps) {
    this.#deps = deps;
  }

  /** Returns whether all invoices may be sent. */
  async isOpen(): Promise<boolean> {
    const { ledger, rules, now } = this.#deps;
    const state = await this.known(FRESH_MS);
    if (isOpen(state) || state.proved.length === 0) return isOpen(state);
    const known = await ledger.calibrationInvoices(state.out);
    return isOpen(await this.#change((draft) => openIfProved(draft, { known, at: now() }, rules)));
  }

  /**
   * Takes places for invoices of a slice while the gate is closed. Returns the ordinals that may be sent now, or null
   * if all may. `hasMore`: other invoices of the slice wait until the gate opens.
   */
  async places({ batchId, from, to }: { batchId: string; from: number; to: number }) {
    if (await this.isOpen()) return { ordinals: null, hasMore: false };
    const { ledger, now } = this.#deps;
    const known = await ledger.calibrationInvoices((await this.known(0)).out);
    const unsent = await ledger.firstUnsent(batchId, { limit: CANDIDATES, from });
    // An invoice with a place is sent again even if it is far behind: the gate stays closed until it has an answer.
    const placed = known.filter(
      (one) => one.batchId === batchId && (one.state === 'staged' || one.state === 'sending'),
    );
    const ordinals = new Set([...placed, ...unsent].map(({ ordinal }) => ordinal));
    const wanted = [...ordinals].filter((one) => one >= from && one <= to).map((ordinal) => ({ batchId, ordinal }));
    let admitted: readonly CalibrationPlace[] = [];
    const state = await this.#change((draft) => (admitted = takePlaces(draft, { wanted, known, at: now() })));
    if (isOpen(state)) return { ordinals: null, hasMore: false };
    return { ordinals: admitted.map(({ ordinal }) => ordinal), hasMore: admitted.length < wanted.length };
  }

  /** Learns from an answer to a POST until the gate is open. */
  async posted(answer: CreateAnswer, key: string): Promise<void> {
    const isSettled = this.#state !== null && isOpen(this.#state);
    if (isSettled || (answer.kind === 'lost' && !isMisread(answer))) return;
    await this.#change((draft) => observePost(draft, { answer, key, at: this.#deps.now() }));
  }

  /** Returns the answer as Lote may use it: an unproved final word becomes `processing`, and after a contradiction no answer counts. */
  async asked({ answer, serviceId, reported }: AskedInvoice): Promise<StatusAnswer> {
    if (answer.kind !== 'status') return (await this.isStopped()) ? BEHIND_STOP : answer;
    const { rules, now } = this.#deps;
    let believed = false;
    const seen = { answer, serviceId, reported, at: now() };
    await this.#change((draft) => (believed = observeStatus(draft, seen, rules)));
    if (await this.isStopped()) return BEHIND_STOP;
    if (believed || answer.status === 'unreadable') return answer;
    return { ...answer, status: 'processing', reason: null };
  }

  /** Returns whether a GET has confirmed a `failed` event before. If so, a `failed` event counts even if its GET is unreadable. */
  areFailuresProved(): Promise<boolean> {
    return this.#isProved('failed event');
  }

  /** Returns false when the receiver must not store the deliveries, so that the sender retries. One GET must prove each event type that means issued. */
  async accept(deliveries: readonly RecordDelivery[]): Promise<boolean> {
    if (!deliveries.some(({ event }) => event?.verdict && event.serviceId !== null)) return true;
    try {
      const { proved, trusted } = await this.known(WORDS_FRESH_MS);
      const isProved = (type: string): boolean => trusted || proved.includes(`event ${type}`);
      const isStopped = (): boolean => this.stoppedHere()?.code === PROFILE_CONTRADICTION;
      for (const { event } of deliveries) {
        if (event?.verdict !== 'issued' || event.serviceId === null) continue;
        const { serviceId } = event;
        const type = event.type.toLowerCase();
        // oxlint-disable-next-line no-await-in-loop -- the first answer mostly spares the rest
        if (isStopped() || (!isProved(type) && !(await this.#prove(type, serviceId)))) return false;
      }
      return !isStopped();
    } catch {
      return false;
    }
  }

  /** Records a finding; a null message ends the finding with that code. */
  async note(code: string, message: string | null): Promise<void> {
    await this.#change((draft) => takeFinding(draft, { code, message }, this.#deps.now()));
  }

  async stop(reason: Reason): Promise<void> {
    await this.#change((draft) => stopCalibration(draft, reason, this.#deps.now()));
  }

  /** Returns whether a contradiction has stopped the calibration, so that no word of the service counts. */
  async isStopped(): Promise<boolean> {
    await this.known(WORDS_FRESH_MS);
    return this.stoppedHere()?.code === PROFILE_CONTRADICTION;
  }

  /** Returns why nothing is sent, at most `FRESH_MS` old; null if sending may continue. */
  async stopped(): Promise<Reason | null> {
    await this.known(FRESH_MS);
    return this.stoppedHere();
  }

  /** Like `stopped`, as far as this process knows. */
  stoppedHere(): Reason | null {
    return this.#state === null || this.#state.trusted ? null : this.#state.stop;
  }

  /** Returns whether it is time to poll the sent invoices: `pauseMs` after the last look. */
  takeLook(pauseMs: number): boolean {
    const now = this.#deps.now();
    const age = now - this.#lookedAt;
    if (age >= 0 && age < pauseMs) return false;
    this.#lookedAt = now;
    return true;
  }

  /** Returns the known state, at most `maxAgeMs` old. */
  async known(maxAgeMs: number): Promise<CalibrationState> {
    const age = this.#deps.now() - this.#readAt;
    // Below zero if the clock was set back.
    if (this.#state !== null && age >= 0 && age < maxAgeMs) return this.#state;
    return this.#read();
  }

  /** Writes only if the change alters what this process knows. */
  async #change(change: (draft: CalibrationState) => void): Promise<CalibrationState> {
    const { ledger, profileDigest } = this.#deps;
    const draft = structuredClone(await this.known(WORDS_FRESH_MS));
    const before = JSON.stringify(draft);
    change(draft);
    if (JSON.stringify(draft) === before) return draft;
    return this.#keep(await ledger.calibrate(profileDigest, change));
  }

  #keep(state: CalibrationState): CalibrationState {
    const { log, now } = this.#deps;
    this.#readAt = now();
    // A reading that began before this process found a reason to stop must not remove that reason; an operator may remove it.
    const stop = state.trusted ? null : (state.stop ?? this.#state?.stop ?? null);
    this.#state = { ...state, stop };
    for (const { code, message } of state.found) {
      if (this.#logged.has(code)) continue;
      this.#logged.add(code);
      const level = code === stop?.code ? 'error' : 'warn';
      log[level]('the service profile does not fit the service', { code, detail: message });
    }
    return this.#state;
  }

  async #isProved(name: string): Promise<boolean> {
    const { proved, trusted } = await this.known(WORDS_FRESH_MS);
    return trusted || proved.includes(name);
  }

  /** Polls one invoice that an event of this type calls issued. Calls wait for each other, and most then need no GET of their own. */
  #prove(type: string, serviceId: string): Promise<boolean> {
    const name = `event ${type}`;
    const proved = this.#questioned.then(async () => {
      if (!(await this.#isProved(name))) await this.#question(type, serviceId);
      return this.#isProved(name);
    });
    this.#questioned = proved.catch(() => undefined);
    return proved;
  }

  async #question(type: string, serviceId: string): Promise<void> {
    const { service, now } = this.#deps;
    const before = this.#questions.get(type) ?? { asked: 0, notBefore: 0 };
    if (now() < before.notBefore) return;
    const asked = before.asked + 1;
    this.#questions.set(type, { asked, notBefore: asked < QUICK_ANSWERS ? 0 : now() + RARELY_MS });
    const answer = await service.getInvoice(serviceId);
    await this.asked({ serviceId, answer, reported: { verdict: 'issued', type } });
  }
}
