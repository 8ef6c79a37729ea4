/** What a report says in numbers, as JSON: one small text a batch, so that pictures of many nights read no invoice. */
export const REPORT_FIGURES: readonly string[] = [`ALTER TABLE report_mark ADD COLUMN figures text`];
