import type { Finding, Reason } from './invoice.ts';

/** Code of a reason and of a finding: a file does not have the control totals that its start declared, and nothing more of it is sent. */
export const TOTALS_DIFFER = 'control-totals-differ';

/** What the message of such a finding says after the numbers, in each version of Lote; it is untrue once the file was let go. */
const NOTHING_SENT = / Nothing (?:more )?of it was sent\./;

/** Who let a file go although its control totals differ: another start of the file, or an operator by a retry. */
export type TotalsOverruling = 'start' | 'retry';

const OVERRULED: Readonly<Record<TotalsOverruling, string>> = {
  start: 'It was then started again with other totals or none, so it was not held for that any more.',
  retry: 'An operator then sent held invoices of it all the same; the audit says who and why.',
};

/** Why nothing more of a file is sent. `differences`: at least one, each with both numbers. */
export function totalsDiffer(differences: readonly string[], hasSent: boolean): Reason {
  return {
    code: TOTALS_DIFFER,
    message: `The file does not have the control totals it was started with: ${differences.join('; ')}. Nothing ${hasSent ? 'more ' : ''}of it was sent. Compare it with its source, then drop the right file, or start this one again with other totals or none.`,
  };
}

/** The reason as a finding of the file: the file may have no invoice that could carry it. */
export function totalsFinding({ code, message }: Reason): Finding {
  return { row: null, column: null, code, message, severity: 'error' };
}

/** What is left of such a finding for a later reader of the report: that the totals differed, and that a person let the file go. */
export function overruledTotals({ message }: Finding, by: TotalsOverruling): Finding {
  const [differed = ''] = message.split(NOTHING_SENT, 1);
  return {
    row: null,
    column: null,
    code: 'control-totals-overruled',
    message: `${differed} ${OVERRULED[by]}`,
    severity: 'warning',
  };
}

/** What such a finding says, unless the file was let go since; null: no declared totals differ. */
export function differingTotals(findings: readonly Finding[]): string | null {
  return findings.find(({ code }) => code === TOTALS_DIFFER)?.message ?? null;
}
