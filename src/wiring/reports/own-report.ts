/** Of whom a report says that it is; undefined: an older one, which does not say so. */
export interface ReportSays {
  readonly ledger: string | null | undefined;
  /** As the marks of sending name it; null: the built-in sandbox. */
  readonly account: string | null | undefined;
}

/** Who asks. */
export interface ReportReader {
  readonly ledger: { readonly id: string };
  readonly account: string | null;
}

/** Whether a report counts: it is of this ledger, whatever its account was then, of this account, or tells of neither. A file may be tried at a test account first. */
export function isOwnReport(report: ReportSays, { ledger, account }: ReportReader): boolean {
  return report.ledger === ledger.id || report.account === undefined || report.account === account;
}
