import { createHash } from 'node:crypto';
import type { FaultName, Faults } from './faults.ts';

/** Decides faults: the same seed and the same subject give the same decision, whatever the order of requests. */
export interface Chance {
  /** Once and for all for that subject. */
  decide(fault: FaultName, subject: string): boolean;
  /** Anew for each time that the subject comes by: a request that is repeated may pass. */
  decideAgain(fault: FaultName, subject: string): boolean;
  /** A number from 0 up to 1 that belongs to the subject. */
  fraction(purpose: string, subject: string): number;
}

/** Makes the decisions of one run. `faults` has the probability of each fault, from 0 to 1. */
export function createChance(faults: Faults, seed: string): Chance {
  const visits = new Map<string, number>();

  function fraction(purpose: string, subject: string): number {
    const digest = createHash('sha256').update(`${seed}\n${purpose}\n${subject}`).digest();
    return digest.readUInt32BE(0) / 2 ** 32;
  }

  function decide(fault: FaultName, subject: string): boolean {
    const probability = faults[fault];
    return probability > 0 && fraction(fault, subject) < probability;
  }

  return {
    decide,
    fraction,
    decideAgain(fault, subject) {
      // Counting only what may happen keeps a sandbox without faults free of this map.
      if (faults[fault] === 0) return false;
      const place = `${fault}\n${subject}`;
      const visit = visits.get(place) ?? 0;
      visits.set(place, visit + 1);
      return decide(fault, `${subject}\n${visit}`);
    },
  };
}
