/** The requests of the service profile, and what comes to the receiver. */
export type RecordedOperation =
  | 'create-invoice'
  | 'get-invoice'
  | 'create-merchant'
  | 'list-merchants'
  | 'register-webhook'
  | 'delivery';

/** What the profile found, or missed, at the place of one of its settings. */
export interface ReplayedPlace {
  /** The key of the profile, such as `invoice.id`. */
  readonly setting: string;
  /** The place as people read it; of a setting that is no place, what it says. */
  readonly place: string;
  /** What stands there, at most 80 characters, without personal data; null: nothing that can be used. */
  readonly value: string | null;
}

/** One recorded answer or delivery, read through a profile. */
export interface ReplayRow {
  /** The file, and for a HAR file the number of the entry. */
  readonly record: string;
  /** When it was recorded, in epoch milliseconds. */
  readonly at: number;
  /** null: it belongs to no request of the profile. */
  readonly operation: RecordedOperation | null;
  /** The HTTP status of the answer; null: it is a delivery. */
  readonly status: number | null;
  /** null: there is nothing in it that the profile would have to read. */
  readonly understood: boolean | null;
  /** What was understood, or what was missing and where, as a sentence without personal data. */
  readonly says: string;
  readonly places: readonly ReplayedPlace[];
}

/** All records of one operation. */
export interface ReplaySummary {
  readonly operation: RecordedOperation | null;
  readonly records: number;
  readonly understood: number;
  /** Sentences, the most important first: what was found, then what was not. */
  readonly lines: readonly string[];
}

/** What only several records together show, such as an invoice that is issued and failed. */
export interface ReplayFinding {
  /** Keys of the profile that it speaks of. */
  readonly settings: readonly string[];
  readonly message: string;
}

/** What a profile understands of recorded answers and deliveries. */
export interface Replay {
  readonly rows: readonly ReplayRow[];
  readonly summary: readonly ReplaySummary[];
  readonly findings: readonly ReplayFinding[];
  /** Every record of an operation was understood, there is at least one, and nothing contradicts anything. */
  readonly understood: boolean;
}
