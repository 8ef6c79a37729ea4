/** How far a batch was at a moment (epoch milliseconds): numbers of invoices. */
export interface PaceSample {
  readonly at: number;
  readonly sent: number;
  readonly settled: number;
}

/** Points of one line; when it is full every second one goes, so that it stays whole and its page stays small. */
const MOST_SAMPLES = 240;
/** Lines that are kept: those of batches that nobody looks at any more go first. */
const MOST_BATCHES = 50;

/** What the console saw of running batches while somebody looked: kept in memory, for a line that helps and decides nothing. */
export interface PaceSamples {
  /** Adds a sample of a batch that began at `startedAt`; its line so far, oldest first, from its beginning. */
  note(batch: { readonly batchId: string; readonly startedAt: number }, sample: PaceSample): readonly PaceSample[];
}

/** Empty samples. */
export function createPaceSamples(): PaceSamples {
  const lines = new Map<string, readonly PaceSample[]>();
  return {
    note({ batchId, startedAt }, sample) {
      const known = lines.get(batchId) ?? [{ at: startedAt, sent: 0, settled: 0 }];
      const line = sample.at > (known.at(-1)?.at ?? 0) ? [...known, sample] : known;
      const kept = line.length > MOST_SAMPLES ? thinned(line) : line;
      // The newest is the last of the map, so that the first one is who was not looked at for longest.
      lines.delete(batchId);
      lines.set(batchId, kept);
      const [oldest] = lines.keys();
      if (lines.size > MOST_BATCHES && oldest !== undefined) lines.delete(oldest);
      return kept;
    },
  };
}

function thinned(line: readonly PaceSample[]): readonly PaceSample[] {
  return line.filter((_, at) => at % 2 === 0 || at === line.length - 1);
}
