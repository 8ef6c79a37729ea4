import { z } from 'zod';
import { createHash } from 'node:crypto';

const probability = z.number().min(0).max(1).default(0);
const milliseconds = z.number().int().min(0).max(3_600_000);

const schema = z.strictObject({
  /** Cuts the connection before the service creates anything. */
  lostBeforeCreate: probability,
  /** Cuts the connection after the service stored the invoice or merchant. */
  lostAfterCreate: probability,
  /** Answers 500 and repeats that answer for its key for as long as the service keeps keys. */
  stored500: probability,
  /** Answers 429 with Retry-After, on every operation. */
  status429: probability,
  retryAfterSeconds: z.number().int().min(0).max(86_400).default(1),
  /** A limit: requests that exceed it for more than a second get a 429 with Retry-After. */
  requestsPerSecond: z.number().positive().nullable().default(null),
  /** After this number of requests, every answer is a 503 in HTML for this time. */
  outage: z
    .strictObject({ afterRequests: z.number().int().min(0), lastsMs: milliseconds })
    .nullable()
    .default(null),
  /** GET /v1/merchants answers 500. */
  listFailure: probability,
  /** The service never accepts a merchant with this NIF. */
  merchantRefusal: probability,
  /** The engine never gives a verdict. */
  neverSettle: probability,
  webhookDropped: probability,
  webhookDuplicated: probability,
  /** Settles the invoice and sends its event before it answers the POST. */
  webhookEarly: probability,
  /** Delays the event by up to `lateMs`, so that later events overtake it. */
  webhookLate: probability,
  lateMs: milliseconds.default(5000),
  /** Sends a delivery with a wrong signature that states the opposite of the truth. */
  webhookForged: probability,
  /** Sends a correctly signed event about an invoice that does not exist. */
  webhookStray: probability,
  /** Sends a correctly signed event that states the opposite, beside the true one. */
  contradictoryEvents: probability,
});

/** All faults with their settings; a probability of 0 switches a fault off. */
export type Faults = z.output<typeof schema>;

/** The faults that chance decides. */
export type FaultName = {
  [Name in keyof Faults]: Name extends 'retryAfterSeconds' | `${string}Ms` | 'outage' | 'requestsPerSecond'
    ? never
    : Name;
}[keyof Faults];

/** Checks faults and fills in defaults. @throws with the name of the invalid fault. */
export function checkedFaults(faults: unknown = {}): Faults {
  const result = schema.safeParse(faults);
  if (result.success) return result.data;
  const where = result.error.issues.map((issue) => `${issue.path.join('.') || 'the object'}: ${issue.message}`);
  throw new Error(`Reading the sandbox's faults: ${where.join('; ')}`);
}

/** Reads the value of `--faults`: a JSON object, or the name of a preset. @throws if it is neither. */
export function parseFaults(text: string): Faults {
  if (text === 'none' || text.trim() === '') return checkedFaults();
  if (text === 'heavy') return HEAVY_FAULTS;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error("Reading the sandbox's faults: expected a JSON object, `heavy` or `none`.", { cause });
  }
  return checkedFaults(value);
}

/** A preset in which almost every fault happens now and then. */
export const HEAVY_FAULTS: Faults = checkedFaults({
  lostBeforeCreate: 0.05,
  lostAfterCreate: 0.05,
  stored500: 0.005,
  status429: 0.05,
  neverSettle: 0.005,
  webhookDropped: 0.05,
  webhookDuplicated: 0.1,
  webhookEarly: 0.1,
  webhookLate: 0.2,
  webhookForged: 0.02,
  webhookStray: 0.01,
  contradictoryEvents: 0.02,
  listFailure: 0.1,
});

/** Decides faults: the same seed and subject give the same decision, regardless of the order of requests. */
export interface Chance {
  /** Decides once and for all for this subject. */
  decide(fault: FaultName, subject: string): boolean;
  /** Decides again each time that the subject occurs, so that a repeated request may pass. */
  decideAgain(fault: FaultName, subject: string): boolean;
  /** Returns a number from 0 to below 1 that the subject determines. */
  fraction(purpose: string, subject: string): number;
}

/** Creates the decisions of one run. `faults` contains the probability of each fault, from 0 to 1. */
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
      // Without faults this map stays empty, because visits count only for faults that may happen.
      if (faults[fault] === 0) return false;
      const place = `${fault}\n${subject}`;
      const visit = visits.get(place) ?? 0;
      visits.set(place, visit + 1);
      return decide(fault, `${subject}\n${visit}`);
    },
  };
}
