/** What makes it known which words of a profile really say that an invoice is issued. */
export interface IssuedWordsOptions {
  /** The service is told where to send events. */
  readonly expectsEvents: boolean;
  /** How many words the profile has for issued. */
  readonly words: number;
  /** Time between two GETs of an invoice that makes the second one a proof of its own, in milliseconds. */
  readonly secondLookMs: number;
  readonly now: () => number;
}

/** Words that answers of the service give to invoices, as far as this process has seen them. */
export interface IssuedWords {
  /** A word in the answer to a first POST, and what the profile takes it for. */
  atCreation(word: string, says: 'issued' | 'failed' | null): void;
  /** A GET says by this word that the invoice is issued. True: that is believed; false: the invoice waits. */
  isBelieved(look: { readonly serviceId: string; readonly word: string; readonly isLast: boolean }): boolean;
  /** Whether the invoice waits for another GET or for an event to say the same. */
  isWaiting(serviceId: string): boolean;
  /** An event says that an invoice is issued of which a GET has this word. */
  agreed(word: string): void;
  /** The invoice has failed: the word by which a GET called it issued before; null: none did, or none that is ever believed. */
  failed(serviceId: string): string | null;
  /** Whether answers to POSTs begin with the word, so that it says nothing of an end. */
  isEarly(word: string): boolean;
}

const MOST_WORDS = 20;
const MOST_WAITING = 10_000;
/** Invoices of which two GETs say the same word; after them it is believed of all. */
const ENOUGH = 2;

/**
 * A profile that counts a word such as `processing` among those for issued would call invoices issued that fail later. So a word is believed of all invoices
 * once a signed event has agreed with it, or two GETs of each of two invoices. Until then: a word that is the first thing that the service says of every
 * invoice waits for an event; another one of several words for issued waits for a second GET; the only word, when the service begins with another one, is believed at once.
 * The last GET of an invoice is believed in any case, unless events have come and agreed with another word alone.
 */
export function createIssuedWords({ expectsEvents, words, secondLookMs, now }: IssuedWordsOptions): IssuedWords {
  const first = new Set<string>();
  let beginsOtherwise = false;
  const agreed = new Set<string>();
  const repeated = new Map<string, number>();
  const waiting = new Map<string, { readonly word: string; readonly at: number }>();

  const isEarly = (word: string): boolean => !beginsOtherwise && first.has(word);
  const isProved = (word: string): boolean => agreed.has(word) || (repeated.get(word) ?? 0) >= ENOUGH;

  function secondLook(serviceId: string, word: string): boolean {
    const before = waiting.get(serviceId);
    if (before?.word !== word) {
      if (waiting.size < MOST_WAITING) waiting.set(serviceId, { word, at: now() });
      return false;
    }
    if (now() - before.at < secondLookMs) return false;
    waiting.delete(serviceId);
    repeated.set(word, (repeated.get(word) ?? 0) + 1);
    return true;
  }

  return {
    atCreation(word, says) {
      if (says !== 'issued') beginsOtherwise = true;
      else if (first.size < MOST_WORDS) first.add(word);
    },
    isBelieved({ serviceId, word, isLast }) {
      if (isProved(word)) return true;
      const early = isEarly(word);
      const eventsCome = agreed.size > 0;
      if (isLast) return !(early && eventsCome);
      if (early && (expectsEvents || eventsCome)) {
        if (waiting.size < MOST_WAITING && !waiting.has(serviceId)) waiting.set(serviceId, { word, at: now() });
        return false;
      }
      const isProgress = beginsOtherwise && words === 1;
      if (!early && (isProgress || !expectsEvents)) return true;
      return secondLook(serviceId, word);
    },
    isWaiting: (serviceId) => waiting.has(serviceId),
    agreed(word) {
      if (agreed.size < MOST_WORDS) agreed.add(word);
    },
    failed(serviceId) {
      const word = waiting.get(serviceId)?.word ?? null;
      waiting.delete(serviceId);
      if (word === null) return null;
      // Events agree with another word alone: it settles nothing, and is no reason to stop.
      if (isEarly(word) && agreed.size > 0 && !isProved(word)) return null;
      agreed.delete(word);
      repeated.delete(word);
      return word;
    },
    isEarly,
  };
}
