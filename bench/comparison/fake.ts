import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../child.ts';
import type { FakeCounts, FakeInput, FakeUp } from '../processes/fake-process.ts';

/** The service that every engine of one round sends to, in a process of its own for each run. */
export interface Fake {
  readonly url: string;
  /** What came before is no part of the measurement. */
  forget(): Promise<void>;
  /** Once every webhook was answered. @throws when invoices are missing or were created twice */
  counts(invoices: number): Promise<FakeCounts>;
  end(): Promise<void>;
}

/** What the service signs webhooks with. */
export const SECRET = 'whsec_of_the_bench';
export const LATENCY_MS = 5;
export const SETTLE_MS = 20;
/** At most; not more than are measured. */
const WARM_UP_INVOICES = 6_000;
/** The last answer is on its way to the fake when an engine has recorded all. */
const LAST_ANSWERS_MS = 5_000;
const LOOK_EVERY_MS = 20;

/** Starts the fake service for a run of so many invoices; it has warmed up when this resolves. */
export async function startFake(invoices: number): Promise<Fake> {
  const child = await startChild<FakeUp>({
    file: 'fake-process.ts',
    input: {
      latencyMs: LATENCY_MS,
      settleMs: SETTLE_MS,
      secret: SECRET,
      warmUpInvoices: Math.min(WARM_UP_INVOICES, invoices),
    } satisfies FakeInput,
  });
  const { url } = child.first;
  return {
    url,
    end: () => child.end(),
    async forget() {
      await fetch(`${url}/forget`, { method: 'POST' });
    },
    async counts(invoices) {
      for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
        const counts = (await (await fetch(`${url}/counts`)).json()) as FakeCounts;
        if (counts.created === invoices && counts.answered === invoices && counts.duplicates === 0) return counts;
        if (waitedMs > LAST_ANSWERS_MS)
          throw new Error(
            `The fake must have ${invoices} invoices, each once and told of, found ${JSON.stringify(counts)}`,
          );
        await sleep(LOOK_EVERY_MS);
      }
    },
  };
}
