import type { SignatureRefusal } from '../signature/refusal.ts';

/** A refused delivery, kept in memory until it was looked at: at most a minute. */
export interface RefusedSample {
  readonly why: SignatureRefusal;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  readonly pathSecret?: string;
}

/** Bytes of the largest body that is kept. */
export const SAMPLE_BODY_LIMIT = 16 * 1024;

const MOST_ADDRESSES = 4;
/** These stay, whoever comes later. */
const FIRST_ADDRESSES = 2;
/** Of one address: the first delivery, and any two of the later ones. */
const OF_AN_ADDRESS = 3;
/** Bodies of an address, and of all, that are read for this in one round; a flood is refused without them. */
const MOST_CLAIMS = { address: 16, all: 200 };

/** Takes what was claimed; called once. */
export type KeepSample = (sample: RefusedSample) => void;

/** What came from one peer address in this round. */
interface Slot {
  arrivals: number;
  claims: number;
  /** Null: its body is being read. */
  readonly kept: (RefusedSample | null)[];
}

/**
 * A few refused deliveries, spread so that whoever floods the receiver pushes out few others: by peer address, and of an
 * address the first one and random ones.
 */
export interface RefusedSamples {
  /** Null: this one is not wanted. */
  claim(address: string): KeepSample | null;
  /** All that are kept; none is kept any more then. */
  take(): readonly RefusedSample[];
}

/** Makes room for at most 12 deliveries; `random` gives numbers from 0 up to 1. */
export function createRefusedSamples(random: () => number): RefusedSamples {
  let byAddress = new Map<string, Slot>();
  let others = 0;
  let claims = 0;

  function slotOf(address: string): Slot | null {
    const known = byAddress.get(address);
    if (known !== undefined) return known;
    if (byAddress.size >= MOST_ADDRESSES) {
      others += 1;
      if (random() >= 1 / (1 + others)) return null;
      const later = [...byAddress.keys()].slice(FIRST_ADDRESSES);
      byAddress.delete(later[Math.floor(random() * later.length)] ?? '');
    }
    const fresh: Slot = { arrivals: 0, claims: 0, kept: [] };
    byAddress.set(address, fresh);
    return fresh;
  }

  return {
    claim(address) {
      if (claims >= MOST_CLAIMS.all) return null;
      const slot = slotOf(address);
      if (slot === null || slot.claims >= MOST_CLAIMS.address) return null;
      slot.arrivals += 1;
      const at = slot.arrivals <= OF_AN_ADDRESS ? slot.arrivals - 1 : Math.floor(random() * slot.arrivals);
      if (at >= OF_AN_ADDRESS || (at === 0 && slot.arrivals > 1)) return null;
      claims += 1;
      slot.claims += 1;
      slot.kept[at] ??= null;
      return (sample) => void (slot.kept[at] = sample);
    },
    take() {
      const kept = [...byAddress.values()].flatMap((slot) => slot.kept.filter((sample) => sample !== null));
      byAddress = new Map();
      others = 0;
      claims = 0;
      return kept;
    },
  };
}
