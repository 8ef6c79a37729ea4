import type { MeasuringLedger } from '../../domain/ports/measures.ts';

/** Settled invoices are gathered for this long, so that one statement reads the lag of many … */
const GATHER_MS = 1_000;
/** … and of no more than these, taken at random: what it costs does not grow with the speed. */
const SAMPLE = 100;

interface Settled {
  readonly batchId: string;
  readonly ordinal: number;
}

export interface LagSamplesOptions {
  readonly ledger: Pick<MeasuringLedger, 'measureLag'>;
  readonly record: (ms: number, state: string) => void;
  readonly random: () => number;
}

/** Measures how long a sample of invoices waited for its final word. */
export interface LagSamples {
  add(settled: readonly Settled[]): void;
  /** Reads what is gathered, and waits for it. */
  flush(): Promise<void>;
}

/** Makes an empty sample. Its statements run beside the work; one that fails loses its sample and nothing else. */
export function createLagSamples({ ledger, record, random }: LagSamplesOptions): LagSamples {
  let sample: Settled[] = [];
  let seen = 0;
  let timer: NodeJS.Timeout | null = null;
  let reading: Promise<void> = Promise.resolve();

  async function read(settled: readonly Settled[]): Promise<void> {
    const lags = await ledger.measureLag(settled).catch(() => []);
    for (const { state, ms } of lags) record(ms, state);
  }

  function take(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const settled = sample;
    sample = [];
    seen = 0;
    if (settled.length > 0) reading = reading.then(() => read(settled));
  }

  return {
    add(settled) {
      for (const { batchId, ordinal } of settled) {
        seen += 1;
        if (sample.length < SAMPLE) sample.push({ batchId, ordinal });
        else {
          // Each of those seen stays with the same chance (reservoir sampling).
          const place = Math.floor(random() * seen);
          if (place < SAMPLE) sample[place] = { batchId, ordinal };
        }
      }
      if (sample.length > 0) timer ??= setTimeout(take, GATHER_MS).unref();
    },
    async flush() {
      take();
      await reading;
    },
  };
}
