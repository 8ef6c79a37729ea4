import { z } from 'zod';
import { createHash } from 'node:crypto';

const probability = z.number().min(0).max(1).default(0);
const milliseconds = z.number().int().min(0).max(3_600_000);

const schema = z.strictObject({
  /** The connection is cut before anything is created. */
  lostBeforeCreate: probability,
  /** The connection is cut after the invoice or merchant is stored. */
  lostAfterCreate: probability,
  /** A 500 that is kept under the key and repeated for as long as keys are kept. */
  stored500: probability,
  /** 429 with Retry-After, on every operation. */
  status429: probability,
  retryAfterSeconds: z.number().int().min(0).max(86_400).default(1),
  /** A limit: what comes faster than this for more than a second gets a 429 with Retry-After. */
  requestsPerSecond: z.number().positive().nullable().default(null),
  /** The answer's body comes in small pieces over `slowDripMs`. */
  slowDrip: probability,
  slowDripMs: milliseconds.default(2000),
  /** From that many requests on, for that long, every answer is a 503 in HTML. */
  outage: z
    .strictObject({ afterRequests: z.number().int().min(0), lastsMs: milliseconds })
    .nullable()
    .default(null),
  /** GET /v1/merchants answers 500. */
  listFailure: probability,
  /** A merchant with this NIF is never accepted. */
  merchantRefusal: probability,
  /** The engine never says a final word. */
  neverSettle: probability,
  webhookDropped: probability,
  webhookDuplicated: probability,
  /** The event is held back for up to `reorderMs`, so that younger ones overtake it. */
  webhookReordered: probability,
  reorderMs: milliseconds.default(1000),
  /** The invoice settles, and its event arrives, before the POST is answered. */
  webhookEarly: probability,
  /** The event is sent `lateMs` after it happened. */
  webhookLate: probability,
  lateMs: milliseconds.default(5000),
  /** A delivery with a wrong signature says the opposite of the truth. */
  webhookForged: probability,
  /** A well-signed event about an invoice that does not exist. */
  webhookStray: probability,
  /** A well-signed event that says the opposite of the truth, beside the true one. */
  contradictoryEvents: probability,
});

/** Every fault and its size; a probability of 0 switches a fault off. */
export type Faults = z.output<typeof schema>;

/** The faults that are decided by chance. */
export type FaultName = {
  [Name in keyof Faults]: Name extends 'retryAfterSeconds' | `${string}Ms` | 'outage' | 'requestsPerSecond'
    ? never
    : Name;
}[keyof Faults];

/** Fills in what is not given. @throws with the name of the fault that is wrong. */
export function checkedFaults(faults: unknown = {}): Faults {
  const result = schema.safeParse(faults);
  if (result.success) return result.data;
  const where = result.error.issues.map((issue) => `${issue.path.join('.') || 'the object'}: ${issue.message}`);
  throw new Error(`Reading the sandbox's faults: ${where.join('; ')}`);
}

/** Reads the value of `--faults`: a JSON object, or the name of a preset. @throws when it is neither. */
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

/** A night on which everything that can go wrong does, now and then. */
export const HEAVY_FAULTS: Faults = checkedFaults({
  lostBeforeCreate: 0.05,
  lostAfterCreate: 0.05,
  stored500: 0.005,
  status429: 0.05,
  slowDrip: 0.01,
  neverSettle: 0.005,
  webhookDropped: 0.05,
  webhookDuplicated: 0.1,
  webhookReordered: 0.2,
  webhookEarly: 0.1,
  webhookLate: 0.05,
  webhookForged: 0.02,
  webhookStray: 0.01,
  contradictoryEvents: 0.02,
  listFailure: 0.1,
});

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
