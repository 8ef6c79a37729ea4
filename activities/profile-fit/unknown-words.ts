import { shownWord } from '../../src/domain/profile-misfit.ts';
import type { MisfitNotes } from './misfit-notes.ts';

/** Code of the finding that a word of the status is in neither list of the profile. */
const STATUS_UNKNOWN = 'invoice-status-unknown';

/** As many invoices with the same word are no chance … */
const ENOUGH = 3;
/** … and as many where answers to POSTs begin with it, so that an engine may just be slow. */
const ENOUGH_OF_FIRST_WORD = 10;
const MOST_WORDS = 20;
/** So many words have room in one message. */
const MOST_SHOWN = 3;

/** A word that the profile knows neither for issued nor for failed. */
interface UnknownWord {
  readonly serviceId: string;
  readonly word: string;
  readonly place: string;
  /** What a signed event says of the invoice; null: none has come. */
  readonly reported: 'issued' | 'failed' | null;
  /** No planned GET follows. */
  readonly isLast: boolean;
}

/** Words of the status that are in neither list. Most services have some: `processing` means only that nothing is final. */
export interface UnknownWords {
  /** A word in the answer to a POST that is in neither list. */
  atCreation(word: string): void;
  seen(word: UnknownWord): void;
  /** A GET has said issued or failed. */
  finalSeen(): void;
}

/**
 * Notes a finding when a word looks final and the profile does not know it: a signed event has called several invoices issued or failed that have it; or, as
 * long as no GET has said anything final, several invoices have it after another word, or when their settle time ends.
 */
export function createUnknownWords(notes: MisfitNotes): UnknownWords {
  const first = new Set<string>();
  const invoices = new Map<string, Set<string>>();
  /** Words of the finding, each with what speaks for it. */
  const shownWords = new Map<string, string>();
  let isFinalSeen = false;
  let isGuess = false;

  function count(key: string, serviceId: string): number {
    const known = invoices.get(key) ?? new Set<string>();
    if (invoices.size < MOST_WORDS || invoices.has(key)) invoices.set(key, known);
    if (known.size < ENOUGH_OF_FIRST_WORD) known.add(serviceId);
    return known.size;
  }

  function sign({ word, reported, isLast }: UnknownWord): string | null {
    if (reported !== null) return `signed events say ${reported}`;
    if (isFinalSeen) return null;
    if (isLast) return 'still when the settle time ends';
    return first.size > 0 && !first.has(word) ? 'and nothing has said issued or failed' : null;
  }

  return {
    atCreation(word) {
      if (first.size < MOST_WORDS) first.add(word);
    },
    seen(unknown) {
      const { serviceId, word, place, reported } = unknown;
      const why = sign(unknown);
      if (why === null) return;
      const enough = first.has(word) ? ENOUGH_OF_FIRST_WORD : ENOUGH;
      if (count(`${reported ?? 'none'} ${word}`, serviceId) < enough) return;
      isGuess = reported === null;
      if (shownWords.size < MOST_SHOWN) shownWords.set(word, `${shownWord(word)} (${why})`);
      const message = `At ${place} (invoice.status) stands what is in neither invoice.issued nor invoice.failed: ${[...shownWords.values()].join(', ')}. Add each word that is final to one of them in the service profile.`;
      notes.note(STATUS_UNKNOWN, message);
    },
    finalSeen() {
      if (!isFinalSeen && (isGuess || invoices.size === 0)) notes.clear(STATUS_UNKNOWN);
      isFinalSeen = true;
    },
  };
}
