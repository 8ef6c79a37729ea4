import type { Answer, Status } from '../../../src/domain/machine/invoice-answers.ts';
import {
  type Decided,
  type InvoiceLife,
  type KeptGeneration,
  NOTHING_SAID,
  type Surroundings,
} from '../../../src/domain/machine/invoice-life.ts';
import { type Command, decide } from '../../../src/domain/machine/invoice-machine.ts';
import type { Random } from './random.ts';
import { Service } from './service.ts';

export type Invoice = InvoiceLife & Surroundings;

/** A file with the invoice. */
export interface Batch {
  readonly id: string;
  readonly content: number;
  isStaging: boolean;
  isClosed: boolean;
  /** Its line shows the invoice as it is. */
  isLive: boolean;
  /** The generation whose outcome its line keeps. */
  holds: number | null;
}

/** A worker that was given the invoice, and stands still for as long as it likes between two of its steps. */
export interface Attempt {
  readonly batchId: string;
  readonly generation: number;
  readonly key: string;
  readonly earlier: KeptGeneration | undefined;
  /** It froze the invoice. */
  readonly froze: boolean;
  /** Of reconciliation: when it took the invoice, and when that had changed before. */
  readonly taken: { readonly at: number; readonly after: number } | null;
  readonly handedOutAt: number;
  /** A POST of its key may have arrived, of which no answer says that it created nothing. */
  mayExist: boolean;
  /** When the first POST of its key may have left. */
  mayExistSince: number | null;
  posts: number;
  outcome: Answer['outcome'] | null;
}

/** Looks at everything that happens. */
export interface Watcher {
  /** The machine has changed the invoice. */
  changed(life: Life, before: Invoice, command: Command): void;
  /** A POST leaves. */
  posts(life: Life, key: string): void;
  /** A worker of an earlier generation has written what it knew. */
  stale(life: Life, before: Invoice): void;
  note(what: string, given?: unknown): void;
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

const NONE: readonly KeptGeneration[] = [];
const START = 1_000_000;

/** Of whatever needs a reason. */
export const BECAUSE = { code: 'because', message: 'because' };
/** Ids of batches. */
export const BATCHES = ['batch 1', 'batch 2', 'batch 3'];
const CONTENTS = ['content', 'other content'];

/** Made once: a history asks for many. */
const KEYS = CONTENTS.map((content) => [0, 1, 2, 3, 4, 5, 6].map((generation) => `key ${generation} of ${content}`));

/** The key of a content in a generation. */
export function keyOf(content: number, generation: number): string {
  return KEYS[content]?.[generation] ?? `key ${generation} of ${content}`;
}

/** True for a key of a content, in whichever generation. */
export function isKeyOf(content: number, key: string): boolean {
  return KEYS[content]?.includes(key) === true;
}

/** The content of the invoice as it is. */
export function contentOf({ invoice }: Life): number {
  return CONTENTS.indexOf(invoice.fingerprint);
}

/** What the ledger calls a content. */
export function fingerprintOf(content: number): string {
  return CONTENTS[content] ?? '';
}

/** One literal: an object that is spread from several is slow to copy. */
const STAGED: Invoice = {
  state: 'staged',
  exposure: 'none',
  generation: 1,
  fingerprint: fingerprintOf(0),
  idempotencyKey: keyOf(0, 1),
  ownerBatch: '',
  serviceId: null,
  attempts: 0,
  asks: 0,
  firstSentAt: null,
  acceptedAt: null,
  settledAt: null,
  changedAt: START,
  reason: null,
  flags: [],
  frozenAt: null,
  ownerIsClosed: false,
  kept: NONE,
  said: NOTHING_SAID,
};

/** One invoice, and everything that knows of it. */
export class Life {
  readonly random: Random;
  readonly watcher: Watcher;
  readonly service = new Service();
  readonly batches: Batch[] = [];
  readonly attempts: Attempt[] = [];
  /** Answers of GETs that are still on their way. */
  readonly statuses: Status[] = [];
  /** When the bytes of each generation were frozen. */
  readonly frozenAt: (number | null)[] = [null, null, null, null];
  /** It was sent with this key while the ledger did not hear of it. */
  lost: { readonly key: string; readonly at: number } | null = null;
  riskAcceptedAt = 0;
  now = START;
  invoice: Invoice;

  constructor(random: Random, watcher: Watcher) {
    this.random = random;
    this.watcher = watcher;
    this.invoice = { ...STAGED, ownerBatch: this.begin(0).id };
    if (random.once(3)) this.#beginEnded(random.once(2) ? 'rejected' : 'failed');
  }

  /** A life that begins late: chance alone seldom comes to the second key. */
  #beginEnded(state: 'rejected' | 'failed'): void {
    const { idempotencyKey } = this.invoice;
    for (const batch of this.batches) batch.isStaging = false;
    this.service.use(idempotencyKey);
    const document = state === 'failed' ? this.service.create(idempotencyKey, START) : null;
    if (document !== null) Object.assign(document, { state, known: state });
    this.frozenAt[1] = START;
    this.load({ ...this.invoice, state, exposure: 'open', serviceId: document?.serviceId ?? null, reason: BECAUSE });
  }

  begin(content: number): Batch {
    const id = BATCHES[this.batches.length] ?? '';
    const batch: Batch = { id, content, isStaging: this.random.once(3), isClosed: false, isLive: true, holds: null };
    this.batches.push(batch);
    return batch;
  }

  /** Lets the machine decide, and does what the ledger does then. False: refused. */
  order(command: Command): boolean {
    const before = this.invoice;
    const decided = decide(before, command);
    const isRefused = 'refusal' in decided;
    this.watcher.note(isRefused ? 'refused' : 'ordered', command);
    if (isRefused) return false;
    this.#write(decided);
    this.watcher.changed(this, before, command);
    return true;
  }

  #write({ invoice, effects = [], kept = [] }: Decided): void {
    const { generation, frozenAt } = this.invoice;
    if (invoice.generation > generation)
      this.frozenAt[invoice.generation] = effects.includes('next-body') ? frozenAt : null;
    if (effects.includes('accept-risk')) this.riskAcceptedAt = this.now;
    if (kept.length === 0) return this.load(invoice);
    this.#issueLines(kept);
    const others = this.invoice.kept.filter((one) => kept.every((other) => other.generation !== one.generation));
    return this.load(
      invoice,
      [...others, ...kept].toSorted((a, b) => a.generation - b.generation),
    );
  }

  /** Lines that held the content of an issued document are lines of that document. */
  #issueLines(kept: readonly KeptGeneration[]): void {
    for (const { state, fingerprint, generation } of kept) {
      if (state !== 'issued') continue;
      const alike = this.invoice.kept.filter((one) => one.fingerprint === fingerprint).map((one) => one.generation);
      for (const batch of this.batches)
        if (batch.holds !== null && alike.includes(batch.holds)) batch.holds = generation;
    }
  }

  /**
   * Reads the invoice as the ledger does: with its bytes, its batch, and the stored events of its documents. What the
   * machine returned is a copy, and is not copied once more.
   */
  load(invoice: InvoiceLife = this.invoice, kept = this.invoice.kept): void {
    const loaded = invoice as Writable<Invoice>;
    loaded.frozenAt = this.frozenAt[invoice.generation] ?? null;
    loaded.ownerIsClosed = this.isClosed(invoice.ownerBatch);
    loaded.said = this.service.saidOf(invoice.serviceId);
    loaded.kept = kept.length === 0 ? NONE : kept.map((one) => ({ ...one, said: this.service.saidOf(one.serviceId) }));
    this.invoice = loaded;
  }

  isClosed(batchId: string): boolean {
    for (const { id, isClosed } of this.batches) if (id === batchId) return isClosed;
    return false;
  }

  /** A batch whose line shows the invoice. */
  liveBatch(): Batch | undefined {
    const batch = this.random.pick(this.batches);
    return batch?.isLive === true ? batch : undefined;
  }

  /** An operator accepts, on record, that there may be a second document, if the machine takes the command. */
  orderAtRisk(command: Command): boolean {
    const risked = this.service.used.filter(({ isRisked }) => !isRisked);
    for (const use of risked) use.isRisked = true;
    const isDone = this.order(command);
    if (!isDone) for (const use of risked) use.isRisked = false;
    return isDone;
  }
}
