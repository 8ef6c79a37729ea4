/** A setting of the service profile as a page shows it; values are JSON without secrets. */
export interface ShownSetting {
  /** `signature.header`. */
  readonly key: string;
  /** What it means, in English; `…` between backticks is code. */
  readonly words: string;
  readonly value: string;
  readonly default: string;
  readonly differs: boolean;
  /** Keys inside it, with their words. */
  readonly parts: readonly { readonly key: string; readonly words: string }[];
  /** What its place reads, as an example; null: it is no place that can be shown so. */
  readonly example: { readonly kind: 'json' | 'header' | 'text'; readonly text: string } | null;
}

/** A section of the service profile. */
export interface ShownSection {
  /** `signature`; `general` holds what stands in no section. */
  readonly name: string;
  /** What it is about, in English; empty: nothing is said. */
  readonly words: string;
  readonly settings: readonly ShownSetting[];
}

/** One mistake in the text of a profile; line and column are counted from 1, null: the text leaves the setting out. */
export interface CopyMistake {
  readonly setting: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  /** The nearest word that is valid there. */
  readonly suggestion: string | null;
}

/** What a profile understands of the recorded answers, beside another one. */
export interface ComparedRow {
  /** Which recorded answers: an operation, or one record; empty: several together. */
  readonly what: string;
  readonly inForce: string;
  readonly copy: string;
  readonly change: 'same' | 'better' | 'worse' | 'other';
}

/** An edited copy compared with the profile in force over the recorded answers. */
export interface ReplayComparison {
  readonly rows: readonly ComparedRow[];
  /** Something that the profile in force understands is not understood any more. */
  readonly understandsLess: boolean;
}

/** What was found in an edited copy. */
export interface CheckedCopy {
  readonly mistakes: readonly CopyMistake[];
  /** Settings that differ from the profile in force; values are JSON without secrets. Empty when there are mistakes. */
  readonly differences: readonly { readonly key: string; readonly inForce: string; readonly copy: string }[];
  /** Null: nothing is recorded, or there are mistakes. */
  readonly replay: ReplayComparison | null;
}

/** What one recorded answer holds at the place of a setting. */
export interface RecordedValue {
  /** Masked; null: nothing that can be used stands there. */
  readonly value: string | null;
  /** The record, by the name of its file. */
  readonly record: string;
  /** When it was recorded, in epoch milliseconds. */
  readonly at: number;
}

/** What the last recorded answer holds at the place of each setting, masked. */
export interface RecordedAnswers {
  /** How many answers and deliveries are recorded. */
  readonly count: number;
  readonly byKey: ReadonlyMap<string, RecordedValue>;
}

/** A copy to be kept as a file. */
export interface KeptCopy {
  /** Letters, digits, `_` and `-`; without `.json`. */
  readonly name: string;
  readonly text: string;
  /** It is kept also when it understands less of the recorded answers. */
  readonly acceptsLess: boolean;
  /** Who keeps it, for the audit. */
  readonly by: string;
}

/** Whether a copy was kept. */
export type KeepAnswer =
  /** `file`: its absolute path. */
  | { readonly how: 'saved'; readonly file: string }
  | { readonly how: 'refused'; readonly why: KeepRefusal; readonly checked: CheckedCopy };

/** Why a copy is not kept. `taken`: a file of that name is there, and is never overwritten. */
export type KeepRefusal = 'name' | 'taken' | 'mistakes' | 'understands-less';

/** The service profile in force and copies of it. Nothing here changes the profile in force. */
export interface ProfileEditor {
  readonly sections: () => readonly ShownSection[];
  /** The text of a file that says the same as the profile in force; what looks like a secret is not in it. */
  readonly copy: () => string;
  /** @throws LoteError `checks-busy` */
  readonly check: (text: string) => Promise<CheckedCopy>;
  /** Null: nothing is recorded. */
  readonly recorded: () => Promise<RecordedAnswers | null>;
  /** Left out: this process only shows. @throws LoteError `folder-unusable`, `checks-busy` */
  readonly keep?: (copy: KeptCopy) => Promise<KeepAnswer>;
  /** The path of a copy that was kept under this name; null: there is none. */
  readonly kept: (name: string) => Promise<string | null>;
}

/** The id under which the audit of the ledger has what was done to service profiles: of no batch. */
export const PROFILE_AUDIT = 'service-profile';
