import type { AppliedDeliveries, RecordDelivery } from '../domain/ports/ledger/delivery-ledger.ts';

/** Applying is no part of the answer to a delivery, so it waits for company: one statement for what 100 ms bring costs a tenth of one for each group. */
const GATHER_MS = 100;

/**
 * Where so few come in that time, again and again, more are waited for: a service that takes few requests a second speaks
 * as seldom. The first after a pause wait for nobody.
 */
const FEW = 16;
const GATHER_FEW_MS = 500;
const PAUSE_MS = 2_000;

/** One set statement of this size is written in tens of milliseconds; larger ones only hold their locks longer. */
const MAX_GROUP = 1_000;

export interface DeliveryApplierOptions {
  readonly apply: (serviceIds: readonly string[]) => Promise<AppliedDeliveries>;
  readonly onApplied: (applied: AppliedDeliveries) => void;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly gatherMs?: number;
}

export interface DeliveryApplier {
  add(deliveries: readonly RecordDelivery[]): void;
  /** Resolves when nothing waits to be applied any more. */
  idle(): Promise<void>;
}

/**
 * Applies stored deliveries to their invoices, one set at a time. What it does not get to (a crash, a ledger that is away) is stored all the same, and
 * is applied when the invoice's page is read.
 */
export function createDeliveryApplier(options: DeliveryApplierOptions): DeliveryApplier {
  let waiting = new Set<string>();
  let running: Promise<void> | null = null;
  let appliedAt = -Infinity;
  /** What the last run applied: a burst goes on while its groups commit, and the last of them may be small. */
  let lastRun = 0;

  async function run(): Promise<void> {
    const isAfterPause = performance.now() - appliedAt > PAUSE_MS;
    await sleep(options.gatherMs ?? GATHER_MS);
    const areFew = waiting.size < FEW && lastRun < FEW;
    if (areFew && !isAfterPause && options.gatherMs === undefined) await sleep(GATHER_FEW_MS);
    lastRun = 0;
    while (waiting.size > 0) {
      const group = [...waiting].slice(0, MAX_GROUP);
      waiting = new Set([...waiting].slice(MAX_GROUP));
      lastRun += group.length;
      // One after the other on purpose: the next group grows while this one commits.
      // oxlint-disable-next-line no-await-in-loop
      await applyGroup(group);
    }
    appliedAt = performance.now();
    running = null;
  }

  async function applyGroup(group: readonly string[]): Promise<void> {
    try {
      options.onApplied(await options.apply(group));
    } catch (error) {
      options.log.warn('Stored deliveries could not be applied now; their pages will', {
        deliveries: group.length,
        error: error instanceof Error ? error.name : 'unknown',
      });
    }
  }

  return {
    add(deliveries) {
      for (const { event } of deliveries) if (event?.verdict && event.serviceId !== null) waiting.add(event.serviceId);
      if (waiting.size > 0) running ??= run();
    },
    async idle() {
      // Deliveries may come in while the last ones are applied.
      // oxlint-disable-next-line no-await-in-loop
      while (running !== null) await running;
    },
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
