import type { Reason } from '../../../domain/invoice.ts';
import type { Outcome } from '../../../domain/invoice-state.ts';
import { problemText } from '../../../texts/problems/problem-text.ts';
import type { ReportFormat } from '../../texts/report-format.ts';
import { html, type SafeHtml } from './html.ts';

/** In these states the service has spoken: a code of its own may be one of Lote's by chance. */
const OF_THE_SERVICE: ReadonlySet<Outcome> = new Set(['rejected', 'failed']);

/**
 * What is wrong, in the reader's language, and behind it Lote's own English words with numbers and places. What the
 * service says stays as it is. `state`: of the invoice whose reason it is; left out: it is a finding.
 */
export function problemWords(
  { language }: ReportFormat,
  { code, message }: Pick<Reason, 'code' | 'message'>,
  state?: Outcome,
): SafeHtml {
  const words = state !== undefined && OF_THE_SERVICE.has(state) ? null : problemText(code, language);
  return words === null ? html`${message}` : html`${words} <span class="soft" lang="en">${message}</span>`;
}
