import type { AnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { RecordDelivery } from '../../domain/ports/ledger/delivery-ledger.ts';

/** Two invoices of which event and GET say the opposite: one alone may be a mistake of the service. */
const CONTRADICTIONS = 2;
/** Answers without a final word after which questions become rare: a service that still processes what it has called issued proves nothing so soon. */
const QUICK_ANSWERS = 20;
/** Between two questions about one type from then on, in milliseconds. */
const RARELY_MS = 5_000;
/** For so long nothing is asked about a type after a question that the service did not answer, in milliseconds. */
const UNANSWERED_MS = 1_000;

const OPPOSITE = { issued: 'failed', failed: 'issued' } as const;

/** What an event says of an invoice; `type`: in small letters. */
interface FinalWord {
  readonly type: string;
  readonly serviceId: string;
  readonly verdict: 'issued' | 'failed';
}

export interface EventWordsDeps {
  readonly service: Pick<InvoicingService, 'getInvoice'>;
  readonly watch: Pick<AnswerWatch, 'asked' | 'event' | 'stop' | 'isStopped'>;
  /** Milliseconds of a clock that nobody sets; left out: that of this process. */
  readonly now?: () => number;
}

/** Whether the words of the profile for events and for answers mean the same. */
export interface EventWords {
  /** False: the deliveries are not to be stored now; their sender comes again. */
  accept(deliveries: readonly RecordDelivery[]): true | Promise<boolean>;
}

/** What was asked about one type of events. */
interface Asked {
  /** Invoices of which a GET says the opposite. */
  readonly contradicted: Set<string>;
  /** Answers that said something of the invoice. */
  answers: number;
  /** Nothing is asked before. */
  notBefore: number;
}

/**
 * A profile that swaps the words for issued and failed, in events or in answers, would turn reports around without a word. So invoices of which an event
 * says one of them are asked for by GET, until one answer agrees: for each type that says issued, and for one of those that say failed, because a GET confirms
 * every failure. Only agreement ends the questions: a service that answers nothing, or nothing final, is asked again later. When two answers say the opposite, nothing more is sent, no event counts and no answer, until somebody has corrected the profile and started Lote
 * again.
 */
export function createEventWords(deps: EventWordsDeps): EventWords {
  const words = new Words(deps);
  return { accept: (deliveries) => words.accept(deliveries) };
}

class Words {
  readonly #deps: EventWordsDeps;
  /** Types of events with which a GET has agreed. */
  readonly #proved = new Set<string>();
  /** By type. */
  readonly #asked = new Map<string, Asked>();
  readonly #now: () => number;
  #asking: Promise<void> | null = null;

  constructor(deps: EventWordsDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  accept(deliveries: readonly RecordDelivery[]): true | Promise<boolean> {
    const { watch } = this.#deps;
    const open = new Map<string, FinalWord>();
    let saysFinal = false;
    for (const delivery of deliveries) {
      const word = finalWord(delivery);
      if (word === null) continue;
      saysFinal = true;
      watch.event(word.serviceId, delivery.event?.eventId ?? null);
      if (!open.has(word.type) && !this.#isProved(word)) open.set(word.type, word);
    }
    if (!saysFinal) return true;
    const isStopped = watch.isStopped();
    if (isStopped === false && open.size === 0) return true;
    // A ledger that cannot say it stores nothing either.
    const isRefused = typeof isStopped === 'boolean' ? isStopped : isStopped.catch(() => true);
    return this.#judgeAll([...open.values()], isRefused);
  }

  /** A GET confirms every failure, so that one type that is proved is enough for those. */
  #isProved({ type, verdict }: FinalWord): boolean {
    return verdict === 'failed' ? this.#proved.size > 0 : this.#proved.has(type);
  }

  async #judgeAll(words: readonly FinalWord[], isRefused: boolean | Promise<boolean>): Promise<boolean> {
    if (await isRefused) return false;
    // oxlint-disable-next-line no-await-in-loop -- one question at a time
    for (const word of words) if (!(await this.#judge(word))) return false;
    return true;
  }

  async #judge(word: FinalWord): Promise<boolean> {
    while (!this.#isProved(word) && this.#now() >= this.#askedOf(word.type).notBefore) {
      const running = this.#asking;
      // One question at a time: the first answer mostly spares all others.
      // oxlint-disable-next-line no-await-in-loop
      await (this.#asking ??= this.#ask(word).finally(() => (this.#asking = null)));
      if (running === null || (await this.#deps.watch.isStopped())) break;
    }
    if (await this.#deps.watch.isStopped()) return false;
    return this.#isProved(word) || !this.#askedOf(word.type).contradicted.has(word.serviceId);
  }

  #askedOf(type: string): Asked {
    const asked = this.#asked.get(type) ?? { contradicted: new Set<string>(), answers: 0, notBefore: -Infinity };
    this.#asked.set(type, asked);
    return asked;
  }

  async #ask({ type, serviceId, verdict }: FinalWord): Promise<void> {
    const { service, watch } = this.#deps;
    const asked = this.#askedOf(type);
    const answer = await service.getInvoice(serviceId);
    const status = answer.kind === 'status' ? answer.status : null;
    if (status === verdict) this.#proved.add(type);
    if (status === OPPOSITE[verdict]) asked.contradicted.add(serviceId);
    else asked.notBefore = this.#now() + pauseAfter(asked, status);
    const contradicted = this.#contradictedBy(type);
    if (contradicted.size >= CONTRADICTIONS) await this.#stop(contradicted);
    else await watch.asked({ serviceId, answer, reported: verdict, isLast: false });
  }

  /** Of all types while none is proved, else of this one alone. */
  #contradictedBy(type: string): ReadonlySet<string> {
    if (this.#proved.has(type)) return new Set();
    const concerned = [...this.#asked].filter(([other]) => this.#proved.size === 0 || other === type);
    return new Set(concerned.flatMap(([, { contradicted }]) => [...contradicted]));
  }

  async #stop(contradicted: ReadonlySet<string>): Promise<void> {
    const found = `Of ${contradicted.size} invoices, events of the service say the opposite of its answers (issued and failed): the service profile swaps two words, or one of them means something else. Look at these invoices at the service, and correct event.issued, event.failed, invoice.issued and invoice.failed in the file named by SERVICE_PROFILE.`;
    await this.#deps.watch.stop(found, contradicted);
  }
}

/** An answer that the limit of the service keeps back is none: it must not use up the quick ones. */
function pauseAfter(asked: Asked, status: string | null): number {
  if (status === null) return UNANSWERED_MS;
  asked.answers += 1;
  return asked.answers < QUICK_ANSWERS ? 0 : RARELY_MS;
}

function finalWord({ event }: RecordDelivery): FinalWord | null {
  if (event === null || event.verdict === null || event.serviceId === null) return null;
  return { type: event.type.toLowerCase(), serviceId: event.serviceId, verdict: event.verdict };
}
