import { type EventsSaid, NOTHING_SAID } from '../../../src/domain/machine/invoice-life.ts';

export const DAY = 86_400_000;

export interface Document {
  readonly serviceId: string;
  readonly key: string;
  readonly createdAt: number;
  state: 'processing' | 'issued' | 'failed';
  /** What its stored deliveries say. */
  said: EventsSaid;
  /** It was `failed` once. */
  isUndone: boolean;
  /** What Lote was told of it; `issued` is the last word. */
  known: 'issued' | 'failed' | null;
}

/** What Lote knows of the POSTs of one key. */
export interface UsedKey {
  readonly key: string;
  /** A POST may have arrived of which no answer says that it created nothing. */
  isOpen: boolean;
  /** An operator accepted that a second document is possible. */
  isRisked: boolean;
}

/** The invoicing service, which knows keys for a day, and a ghost that remembers every key that was POSTed. */
export class Service {
  readonly documents: Document[] = [];
  readonly used: UsedKey[] = [];

  documentOf(key: string): Document | undefined {
    return this.documents.findLast((one) => one.key === key);
  }

  named(serviceId: string | null): Document | undefined {
    return serviceId === null ? undefined : this.documents.find((one) => one.serviceId === serviceId);
  }

  saidOf(serviceId: string | null): EventsSaid {
    return this.named(serviceId)?.said ?? NOTHING_SAID;
  }

  /** A POST arrives: the document of its key, while the service remembers it. */
  create(key: string, now: number): Document {
    const known = this.documentOf(key);
    if (known !== undefined && now - known.createdAt < DAY) return known;
    const serviceId = `inv_${this.documents.length + 1}`;
    const state = 'processing';
    const created: Document = {
      serviceId,
      key,
      createdAt: now,
      state,
      said: NOTHING_SAID,
      isUndone: false,
      known: null,
    };
    this.documents.push(created);
    return created;
  }

  /** A POST leaves with this key. */
  use(key: string): UsedKey {
    const known = this.used.find((one) => one.key === key);
    if (known !== undefined) return known;
    const use: UsedKey = { key, isOpen: false, isRisked: false };
    this.used.push(use);
    return use;
  }

  /** Every POST of the key was definitively refused, its document failed, or its risk was accepted. */
  isOver({ key, isOpen, isRisked }: UsedKey): boolean {
    const document = this.documentOf(key);
    return isRisked || (document === undefined ? !isOpen : document.known === 'failed');
  }

  /** Stores a delivery. */
  deliver(document: Document, verdict: 'issued' | 'failed', now: number): void {
    document.said = withEvent(document.said, verdict, now);
    tell(document, verdict);
  }
}

/** Lote hears what a document is. */
export function tell(document: Document, status: 'issued' | 'failed'): void {
  if (document.known !== 'issued') document.known = status;
}

/** What the stored events say with one more. */
export function withEvent(said: EventsSaid, verdict: 'issued' | 'failed', now: number): EventsSaid {
  if (verdict === 'issued') return { ...said, issuedAt: said.issuedAt ?? now };
  const isFirst = said.issuedAt === null;
  const failure = { code: 'event', message: 'event' };
  return { ...said, failedFirst: said.failedFirst || isFirst, failedLater: said.failedLater || !isFirst, failure };
}
