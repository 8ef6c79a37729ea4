import type { Finding, Reason } from './invoice.ts';

/** Code of the reason and the finding for a file that differs from its declared control totals. Nothing more of it is sent. */
export const TOTALS_DIFFER = 'control-totals-differ';

/** The end of such a message in every version of Lote. It is no longer true once a person has overruled the difference. */
const NOTHING_SENT = / Nothing (?:more )?of it was sent\./;

/** How a person overruled differing control totals: by another start of the file or by a retry. */
export type TotalsOverruling = 'start' | 'retry';

const OVERRULED: Readonly<Record<TotalsOverruling, string>> = {
  start: 'It was then started again with other totals or none, so it was not held for that any more.',
  retry: 'An operator then sent held invoices of it all the same; the audit says who and why.',
};

/** Returns the reason to send nothing more of a file. `differences` has at least one entry; each names both numbers. */
export function totalsDiffer(differences: readonly string[], hasSent: boolean): Reason {
  return {
    code: TOTALS_DIFFER,
    message: `The file does not have the control totals it was started with: ${differences.join('; ')}. Nothing ${hasSent ? 'more ' : ''}of it was sent. Compare it with its source, then drop the right file, or start this one again with other totals or none.`,
  };
}

/** Returns the reason as a finding of the file, because the file may have no invoice that could carry the reason. */
export function totalsFinding({ code, message }: Reason): Finding {
  return { row: null, column: null, code, message, severity: 'error' };
}

/** Returns the finding after a person has overruled it: the totals differed, and the file was sent all the same. */
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

/** Returns the message of differing control totals, or null if there is none or it was overruled. */
export function differingTotals(findings: readonly Finding[]): string | null {
  return findings.find(({ code }) => code === TOTALS_DIFFER)?.message ?? null;
}
