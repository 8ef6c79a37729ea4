import type { ContradictionStop } from './contradiction-stop.ts';

/** Two invoices: one alone may be a mistake of the service. */
const CONTRADICTIONS = 2;

/** Counts invoices that a GET called issued and that have failed since. */
export interface ContradictedWords {
  /** `shown`: the word of the GET; null: not known any more. At the second invoice everything stops. */
  note(serviceId: string, shown: string | null): Promise<void>;
  /** Everything stops: reasons stand at issued invoices, and none at failed ones. */
  swapped(): Promise<void>;
}

/** A word among those for issued that failed invoices have too is no end: reports would call failed invoices issued. */
export function createContradictedWords(everything: Pick<ContradictionStop, 'raise'>): ContradictedWords {
  const invoices = new Set<string>();

  async function stop(found: string): Promise<void> {
    const what = `${found} Look at these invoices at the service, and correct invoice.issued and invoice.failed (and event.issued and event.failed) in the file named by SERVICE_PROFILE.`;
    await everything.raise(what, invoices);
  }

  return {
    async note(serviceId, shown) {
      if (invoices.size < CONTRADICTIONS) invoices.add(serviceId);
      if (invoices.size < CONTRADICTIONS) return;
      const by = shown === null ? '' : ` by the word ${shown}`;
      await stop(
        `A GET called ${CONTRADICTIONS} invoices issued${by}, and they have failed since: a word of invoice.issued in the service profile is not final.`,
      );
    },
    async swapped() {
      await stop(
        'Invoices that the service profile calls issued have a reason of a failure, and those that it calls failed have none: it swaps the words for issued and failed.',
      );
    },
  };
}
