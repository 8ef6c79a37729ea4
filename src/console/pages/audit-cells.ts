import { html } from 'hono/html';
import type { AuditEntry } from '../../domain/ports/ledger/operating-ledger.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

/** Headings of when, who, what and why, as every table of the audit begins. */
export function auditHeadings({ texts }: PageFormat): Html {
  return html`<th scope="col">${texts.invoice.when}</th>
    <th scope="col">${texts.audit.who}</th>
    <th scope="col">${texts.invoice.what}</th>
    <th scope="col">${texts.audit.why}</th>`;
}

/** When, by whom and what; the reason follows in a cell of its own. */
export function auditCells({ texts: { audit }, time }: PageFormat, { at, who, what }: AuditEntry): Html {
  return html`<td class="time">${time(at)}</td>
    <td>${who ?? html`<span class="soft">${audit.somebody}</span>`}</td>
    <td>${audit.actions[what] ?? what}</td>`;
}
