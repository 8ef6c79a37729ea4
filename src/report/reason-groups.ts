import type { BatchInvoice } from '../domain/ports/ledger/batch-record.ts';
import { reasonOf } from './state-reason.ts';
import type { ReasonGroup } from './report-model.ts';

/** Enough to recognise the pattern in the file; the rest stands in the list of invoices. */
const EXAMPLES = 5;
/** Codes come from the service: one that puts a number into each code must not make the report's memory grow with the file. */
const MOST_GROUPS = 200;
const OTHER_REASONS = 'other-reasons';

export interface ReasonGroups {
  add(invoice: BatchInvoice): void;
  /** Largest group first; equal ones by state and code, so that two runs give one report. */
  list(): readonly ReasonGroup[];
}

interface OpenGroup {
  readonly state: ReasonGroup['state'];
  readonly code: string;
  readonly message: string;
  invoices: number;
  readonly examples: { readonly ref: string; readonly rows: readonly number[] }[];
}

/**
 * Groups invoices by state and reason code, with the first five invoices of each as examples. Beyond 200 groups a state
 * has one group `other-reasons`.
 */
export function createReasonGroups(): ReasonGroups {
  const groups = new Map<string, OpenGroup>();

  function groupOf(state: OpenGroup['state'], code: string, message: string): OpenGroup {
    const full = groups.size >= MOST_GROUPS && !groups.has(`${state} ${code}`);
    const key = full ? `${state} ${OTHER_REASONS}` : `${state} ${code}`;
    const known = groups.get(key);
    if (known !== undefined) return known;
    const group: OpenGroup = full
      ? {
          state,
          code: OTHER_REASONS,
          message: 'Reasons beyond the first 200; each stands with its invoice.',
          invoices: 0,
          examples: [],
        }
      : { state, code, message, invoices: 0, examples: [] };
    groups.set(key, group);
    return group;
  }

  return {
    add(invoice) {
      const reason = reasonOf(invoice);
      if (reason === null) return;
      const group = groupOf(invoice.state, reason.code, reason.message);
      group.invoices += 1;
      if (group.examples.length < EXAMPLES) group.examples.push({ ref: invoice.ref, rows: invoice.rows });
    },
    list() {
      return [...groups.values()].sort(
        (a, b) => b.invoices - a.invoices || compareText(a.state, b.state) || compareText(a.code, b.code),
      );
    },
  };
}

/** Not localeCompare: the order must not depend on the machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
