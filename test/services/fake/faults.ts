import { createHash } from 'node:crypto';

/** Shares from 0 to 1 of what goes wrong; the key of a request decides, so that a run can be repeated. */
export interface Faults {
  /** Created, and the connection is cut instead of an answer. */
  readonly lostAnswers: number;
  readonly lostMerchantAnswers: number;
  /** The first try is answered as too fast, and nothing is created. */
  readonly tooFast: number;
  /** The first try of what will be accepted is answered with the service's own trouble, and nothing is created. */
  readonly trouble: number;
  /** Final before the answer to the POST, with its event delivered. */
  readonly earlyEvents: number;
  readonly repeatedEvents: number;
  readonly droppedEvents: number;
}

export const NO_FAULTS: Faults = {
  lostAnswers: 0,
  lostMerchantAnswers: 0,
  tooFast: 0,
  trouble: 0,
  earlyEvents: 0,
  repeatedEvents: 0,
  droppedEvents: 0,
};

/** Whether a fault meets what has this key. */
export function meets(faults: Faults, fault: keyof Faults, key: string): boolean {
  const number = createHash('sha256').update(`${fault} ${key}`).digest().readUInt32BE(0);
  return number / 2 ** 32 < faults[fault];
}
