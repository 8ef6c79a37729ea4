import { html } from 'hono/html';
import { csvTable } from '../http/table-files.ts';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import type { AuditEntry } from '../../domain/ports/ledger/operating-ledger.ts';
import { auditCells, auditHeadings } from './audit-cells.ts';
import { listPages, listPart } from './list-part.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

export interface AuditPage {
  readonly batch: BatchRecord;
  readonly audit: readonly AuditEntry[];
  /** As in `listPart`; left out: the page with the newest entries. */
  readonly page?: string | undefined;
}

/** Each names up to twenty invoices. */
const ENTRIES_OF_A_PAGE = 50;
/** Behind every last page. */
const NEWEST = '9999999';

/** Who did what to a batch, when and why. */
export function auditPage(format: PageFormat, { batch, audit, page: asked = NEWEST }: AuditPage): Html {
  const { texts } = format;
  const page = `/batches/${encodeURIComponent(batch.batchId)}`;
  const part = listPart(audit.length, ENTRIES_OF_A_PAGE, asked);
  const shown = audit.slice((part.page - 1) * ENTRIES_OF_A_PAGE, part.page * ENTRIES_OF_A_PAGE);
  return html`<p><a href="${page}">← ${batch.file}</a></p>
    <h1>${texts.audit.title}</h1>
    ${audit.length === 0 ? html`<p>${texts.audit.none}</p>` : table(format, shown)}
    ${listPages(format, part, (other) => `${page}/audit?page=${other}`)}
    <p class="soft">${texts.audit.note}</p>
    ${audit.length === 0 ? '' : html`<p><a class="button" href="${page}/audit.csv">${texts.audit.download}</a></p>`}`;
}

function table(format: PageFormat, audit: readonly AuditEntry[]): Html {
  const { texts } = format;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.audit.title}">
    <table>
      <thead>
        <tr>
          ${auditHeadings(format)}
          <th scope="col" class="number">${texts.invoices}</th>
          <th scope="col">${texts.audit.examples}</th>
        </tr>
      </thead>
      <tbody>
        ${audit.map((entry) => row(format, entry))}
      </tbody>
    </table>
  </div>`;
}

function row(format: PageFormat, entry: AuditEntry): Html {
  const { count } = format;
  const { audit } = format.texts;
  return html`<tr>
    ${auditCells(format, entry)}
    <td class="text">
      ${entry.why} ${entry.acceptedDuplicateRisk ? html`<strong>${audit.risk}</strong>` : ''}
    </td>
    <td class="number">${entry.invoices === 0 && entry.what !== 'retry' ? '' : count(entry.invoices)}</td>
    <td class="text">
      ${entry.examples.map(({ ref, from, move }) => html`<div>${ref}: ${from}, ${audit.moves[move]}</div>`)}
    </td>
  </tr>`;
}

/** The same for Excel: byte order mark, separator hint, inert cells; words of the ledger, times in UTC. */
export function auditCsv(audit: readonly AuditEntry[]): string {
  const records = audit.map((entry) => [
    new Date(entry.at).toISOString(),
    entry.who ?? '',
    entry.what,
    entry.why,
    entry.acceptedDuplicateRisk ? 'yes' : 'no',
    String(entry.invoices),
    entry.examples.map(({ ref, from, move }) => `${ref}: ${from}, ${move}`).join('\n'),
  ]);
  const head = ['at', 'who', 'what', 'why', 'accepted_duplicate_risk', 'invoices', 'among_them'];
  return csvTable([head, ...records]);
}
