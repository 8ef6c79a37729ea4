/** What is still wrong, counted by name: lines of a long function, exports without a docstring, names with an old word. */
export type Counts = Readonly<Record<string, number>>;

export interface Judged {
  /** Higher than recorded, or not recorded at all. */
  readonly grown: readonly string[];
  /** Lower than recorded: the record may follow. */
  readonly fell: readonly string[];
}

/** A ratchet: a recorded count may fall and never rise. */
export function judge(known: Counts, found: Counts): Judged {
  return {
    grown: Object.keys(found).filter((name) => (found[name] ?? 0) > (known[name] ?? 0)),
    fell: Object.keys(known).filter((name) => (found[name] ?? 0) < (known[name] ?? 0)),
  };
}

/** A record may be renewed after a rename or a move, which leaves the sum as it was; never to let something grow. */
export function mayRenew(known: Counts, found: Counts): boolean {
  return sum(found) <= sum(known);
}

/** Sorted by name, without what is well. */
export function recorded(found: Counts): Counts {
  return Object.fromEntries(
    Object.entries(found)
      .filter(([, count]) => count > 0)
      .toSorted(([a], [b]) => a.localeCompare(b, 'en')),
  );
}

function sum(counts: Counts): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}
