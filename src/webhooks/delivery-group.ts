import type { RecordDelivery } from '../domain/ports/ledger/delivery-ledger.ts';
import { createDeliveryPace } from './delivery-pace.ts';

/**
 * After so many at once more are on their way: who was answered sends the next one. The next write takes all of them, and not
 * two writes in turns a half each: it waits until as many have come as were answered beside those that wait, and no longer
 * than this. A sender that waits for each answer is not held up.
 */
const DENSE_GROUP = 8;
const GATHER_MORE_MS = 6;

/** One set statement of this size is written in tens of milliseconds; larger ones only make their senders wait. */
const MAX_GROUP = 500;

/** Beyond it the ledger has fallen behind, and a sender who waits may as well come again. */
const MAX_WAITING = 5_000;

export type Recorded = 'stored' | 'ledger-failed' | 'full';

export interface DeliveryGroupOptions {
  /** Resolves when they are committed. */
  readonly store: (deliveries: readonly RecordDelivery[]) => Promise<unknown>;
  readonly onStored: (deliveries: readonly RecordDelivery[]) => void;
  readonly onFailure: (error: unknown, deliveries: number) => void;
  readonly maxWaiting?: number;
}

/** Stores deliveries in groups, one write at a time (group commit). */
export interface DeliveryGroup {
  /** Resolves when the delivery is committed, or is known not to be. */
  add(delivery: RecordDelivery): Promise<Recorded>;
  /** Resolves when nothing is waiting any more. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly delivery: RecordDelivery;
  readonly resolve: (recorded: Recorded) => void;
}

/** Group commit: one write at a time, and everything that arrives meanwhile goes with the next one. */
export function createDeliveryGroup(options: DeliveryGroupOptions): DeliveryGroup {
  const maxWaiting = options.maxWaiting ?? MAX_WAITING;
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let running: Promise<void> | null = null;
  const company = awaitedCompany();
  /** While the ledger is idle, the first delivery of a group waits for others by it: one write for all of them. */
  const pace = createDeliveryPace();

  async function run(): Promise<void> {
    const { ms, count } = pace.wait();
    await company.gather(ms, count);
    pace.gathered(waiting.length);
    while (waiting.length > 0) {
      const group = waiting.slice(0, MAX_GROUP);
      waiting = waiting.slice(MAX_GROUP);
      inFlight = group.length;
      // Writes follow one another on purpose: the next group grows while this one commits.
      // oxlint-disable-next-line no-await-in-loop
      const recorded = await write(group);
      inFlight = 0;
      for (const { resolve } of group) resolve(recorded);
      const next = Math.min(group.length + waiting.length, MAX_GROUP);
      // oxlint-disable-next-line no-await-in-loop
      if (group.length >= DENSE_GROUP && waiting.length < next) await company.gather(GATHER_MORE_MS, next);
    }
    running = null;
  }

  async function write(group: readonly Waiting[]): Promise<Recorded> {
    try {
      const deliveries = oncePerBytes(group);
      await options.store(deliveries);
      announce(deliveries);
      return 'stored';
    } catch (error) {
      options.onFailure(error, group.length);
      return 'ledger-failed';
    }
  }

  /** Stored is stored: a listener that throws must not turn it into a failure. */
  function announce(deliveries: readonly RecordDelivery[]): void {
    try {
      options.onStored(deliveries);
    } catch (error) {
      options.onFailure(error, 0);
    }
  }

  return {
    add(delivery) {
      if (waiting.length + inFlight >= maxWaiting) return Promise.resolve('full');
      return new Promise((resolve) => {
        waiting.push({ delivery, resolve });
        pace.came();
        running ??= run();
        company.came(waiting.length);
      });
    },
    async idle() {
      // A delivery may come in while the last ones are written.
      // oxlint-disable-next-line no-await-in-loop
      while (running !== null) await running;
    },
  };
}

/** A sender that repeats itself within one burst would meet itself inside one statement. */
function oncePerBytes(group: readonly Waiting[]): readonly RecordDelivery[] {
  return Array.from(new Map(group.map(({ delivery }) => [delivery.sha256, delivery])).values());
}

interface AwaitedCompany {
  /** Until so many wait, or the time is over. */
  gather(ms: number, count?: number): Promise<void>;
  /** So many wait now. */
  came(count: number): void;
}

function awaitedCompany(): AwaitedCompany {
  let expected = Infinity;
  let allCame = (): void => undefined;
  return {
    async gather(ms, count = Infinity) {
      expected = count;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        allCame = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      expected = Infinity;
    },
    came(count) {
      if (count >= expected) allCame();
    },
  };
}
