/** A setting of the service profile that an exchange showed. */
export interface Finding {
  /** `invoice.id`. */
  readonly key: string;
  readonly value: unknown;
  /** What shows it, in one line, without names, tax numbers or secrets. */
  readonly evidence: string;
  /**
   * `guessed`: nothing showed it; it follows from the form of what was seen. `unconfirmed`: the same of a word that
   * would settle invoices, so that a person must confirm it before it counts.
   */
  readonly certainty: 'seen' | 'guessed' | 'unconfirmed';
}

/** A setting that no exchange showed, and why. */
export interface Missing {
  readonly key: string;
  /** One line, with what to do about it. */
  readonly reason: string;
}

/** What was recognised about one question, setting by setting. */
export type Recognised = readonly (Finding | Missing)[];

/** A setting that was seen. */
export function seen(key: string, value: unknown, evidence: string): Finding {
  return { key, value, evidence, certainty: 'seen' };
}

/** A setting that follows from the form of another one. */
export function guessed(key: string, value: unknown, evidence: string): Finding {
  return { key, value, evidence, certainty: 'guessed' };
}

/** A word that may mean something final, and that nothing confirms. */
export function unconfirmed(key: string, value: unknown, evidence: string): Finding {
  return { key, value, evidence, certainty: 'unconfirmed' };
}

/** A setting about which nothing is known. */
export function missing(key: string, reason: string): Missing {
  return { key, reason };
}

/** Whether a setting was recognised. */
export function isFinding(one: Finding | Missing): one is Finding {
  return 'value' in one;
}
