import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BookedInvoice, type Events, type InvoiceEvent, meets, type Faults } from './family.ts';

export interface Endpoint {
  readonly url: string;
  readonly secret: string;
}

const TRIES = 6;
const FIRST_PAUSE_MS = 100;
const REPEAT_AFTER_MS = 50;
const LONGEST_TRY_MS = 5_000;
/** The answer to a POST comes so long after its early event at the latest. */
const LONGEST_WAIT_MS = 2_000;
/** Events wait so long for others that may stand in the same delivery. */
const COLLECT_MS = 20;

/** Delivers events to every endpoint until it answers 2xx, a bounded number of times. */
export class Deliveries {
  readonly endpoints: Endpoint[] = [];
  /** Statuses of the endpoints' answers, in order; 0: none came. */
  readonly statuses: number[] = [];
  dropped = 0;
  repeated = 0;
  readonly #events: Events | null;
  readonly #faults: Faults;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #waiting: InvoiceEvent[] = [];
  #numbers = 0;

  constructor(events: Events | null, faults: Faults) {
    this.#events = events;
    this.#faults = faults;
    // Every delivery under way listens.
    setMaxListeners(0, this.#closing.signal);
  }

  get accepted(): number {
    return this.statuses.filter((status) => status >= 200 && status <= 299).length;
  }

  /** Sends soon, beside others. */
  add(invoice: BookedInvoice): void {
    const event = this.#eventOf(invoice);
    if (event === null) return;
    this.#waiting.push(event);
    if (this.#waiting.length >= (this.#events?.most ?? 1)) return this.#flush();
    if (this.#waiting.length === 1) this.#run(this.#pause(COLLECT_MS).then(() => this.#flush()));
  }

  /** Sends alone, and waits a while for the endpoints. */
  async addNow(invoice: BookedInvoice): Promise<void> {
    const event = this.#eventOf(invoice);
    if (event === null) return;
    const delivered = this.#deliver([event]);
    this.#run(delivered);
    await Promise.race([delivered, this.#pause(LONGEST_WAIT_MS)]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  #eventOf(invoice: BookedInvoice): InvoiceEvent | null {
    if (this.#events === null || invoice.status === 'processing') return null;
    if (meets(this.#faults, 'droppedEvents', invoice.key)) {
      this.dropped += 1;
      return null;
    }
    this.#numbers += 1;
    return { id: `evt_${randomUUID()}`, number: this.#numbers, outcome: invoice.status, invoice };
  }

  #flush(): void {
    const [first, ...others] = this.#waiting;
    this.#waiting = [];
    if (first !== undefined) this.#run(this.#deliver([first, ...others]));
  }

  async #deliver(events: readonly [InvoiceEvent, ...InvoiceEvent[]]): Promise<void> {
    const id = randomUUID();
    await Promise.all(this.endpoints.map((endpoint) => this.#until2xx(endpoint, id, events)));
    if (!events.some(({ invoice }) => meets(this.#faults, 'repeatedEvents', invoice.key))) return;
    this.repeated += 1;
    this.#run(
      this.#pause(REPEAT_AFTER_MS).then(async () => {
        await Promise.all(this.endpoints.map((endpoint) => this.#until2xx(endpoint, id, events)));
      }),
    );
  }

  async #until2xx({ url, secret }: Endpoint, id: string, events: readonly [InvoiceEvent, ...InvoiceEvent[]]) {
    const way = this.#events;
    if (way === null) return;
    for (let attempt = 0; attempt < TRIES && !this.#closing.signal.aborted; attempt += 1) {
      const { headers, body } = way.message({ id, events, url, secret, now: Date.now() });
      // Each try waits for the one before.
      // oxlint-disable-next-line no-await-in-loop
      const status = await this.#send(url, { headers, body });
      this.statuses.push(status);
      if (status >= 200 && status <= 299) return;
      // oxlint-disable-next-line no-await-in-loop
      await this.#pause(FIRST_PAUSE_MS * 2 ** attempt);
    }
  }

  async #send(url: string, message: { readonly headers: Readonly<Record<string, string>>; readonly body: string }) {
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(LONGEST_TRY_MS)]);
      const answer = await fetch(url, { method: 'POST', ...message, signal });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0;
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }

  #run(work: Promise<void>): void {
    const settled = work.catch(() => undefined).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }
}
