import { SIGNATURE_REFUSALS, type SignatureRefusal } from './signature/refusal.ts';

/** Why a delivery was not taken: it did not prove where it comes from, or its body is too large. */
export const DELIVERY_REFUSALS = [...SIGNATURE_REFUSALS, 'body-too-large'] as const;

/** One of `DELIVERY_REFUSALS`. */
export type DeliveryRefusal = SignatureRefusal | 'body-too-large';

/** How often, and when for the last time (epoch milliseconds; null: never). */
export interface Count {
  readonly times: number;
  readonly lastAt: number | null;
}

/** What became of the deliveries since the receiver of this process started. */
export interface DeliveryCounts {
  /** Epoch milliseconds of the start. */
  readonly since: number;
  /** Committed in the ledger. */
  readonly taken: Count;
  /** Of those taken: with an event, or one of several, that cannot be read. */
  readonly withoutEvent: Count;
  /** Proven, and not committed: the ledger was away or behind, and the sender was asked to come again. */
  readonly notStored: Count;
  readonly refused: Readonly<Record<DeliveryRefusal, Count>>;
}

/** Counts deliveries in memory; it does not grow with them. */
export interface DeliveryTally {
  taken(withoutEvent: boolean): void;
  notStored(): void;
  refused(why: DeliveryRefusal): void;
  /** The counts as they are now. */
  counts(): DeliveryCounts;
}

const NEVER: Count = { times: 0, lastAt: null };

/** Makes a tally that begins now. */
export function createDeliveryTally(now: () => number): DeliveryTally {
  const since = now();
  const refused = new Map<DeliveryRefusal, Count>(DELIVERY_REFUSALS.map((why) => [why, NEVER]));
  let taken = NEVER;
  let withoutEvent = NEVER;
  let notStored = NEVER;
  const oneMore = ({ times }: Count): Count => ({ times: times + 1, lastAt: now() });
  return {
    taken(isWithoutEvent) {
      taken = oneMore(taken);
      if (isWithoutEvent) withoutEvent = oneMore(withoutEvent);
    },
    notStored() {
      notStored = oneMore(notStored);
    },
    refused(why) {
      refused.set(why, oneMore(refused.get(why) ?? NEVER));
    },
    counts() {
      const byReason = Object.fromEntries(refused) as Record<DeliveryRefusal, Count>;
      return { since, taken, withoutEvent, notStored, refused: byReason };
    },
  };
}
