/** How far a batch was at a moment (epoch milliseconds): numbers of invoices. */
export interface PaceSample {
  readonly at: number;
  readonly sent: number;
  readonly settled: number;
}

/** Points of one line; its page stays small. */
const MOST_SAMPLES = 240;
/** Of the time before the last minutes, when a full line is thinned. */
const MOST_OLDER = 60;
/** As far back as a rate is measured, samples stay as dense as they came. */
const RECENT_MS = 150_000;
/** Several people who look at one batch must not fill its line: of two samples that are closer, the newer one stays. */
const CLOSEST_MS = 1_000;
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
      const line = sample.at > (known.at(-1)?.at ?? 0) ? [...withoutClose(known, sample), sample] : known;
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

/** The line without its last sample where that is hardly older than this one and its neighbour; the beginning stays. */
function withoutClose(line: readonly PaceSample[], { at }: PaceSample): readonly PaceSample[] {
  const before = line.at(-2);
  return before !== undefined && at - before.at < CLOSEST_MS ? line.slice(0, -1) : line;
}

/** As it was in the last minutes, and before that with samples at even distances: its beginning is as well drawn as its middle. */
function thinned(line: readonly PaceSample[]): readonly PaceSample[] {
  const [first, last] = [line[0], line.at(-1)];
  if (first === undefined || last === undefined) return line;
  const recent = last.at - RECENT_MS;
  const distance = (recent - first.at) / MOST_OLDER;
  let next = first.at;
  return line.filter(({ at }) => {
    if (at > recent) return true;
    if (at < next) return false;
    next = at + distance;
    return true;
  });
}
