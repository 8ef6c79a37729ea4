import { html } from 'hono/html';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { uploadForm } from '../forms/upload-form.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { isLive } from '../pages/verdict.ts';

const ORDER = ['corrections', 'html', 'csv', 'json'] as const;

/** The report's files: what to correct, what to read, what to keep. `canCheck`: corrected rows can be checked right here. */
export function downloads(
  format: PageFormat,
  batch: BatchRecord,
  { files, canCheck }: { readonly files: readonly string[]; readonly canCheck: boolean },
): Html {
  const { texts } = format;
  if (files.length === 0) return isLive(batch) ? html`` : html`<p class="soft">${texts.noReport}</p>`;
  const kinds = ORDER.flatMap((kind) => files.filter((name) => kindOf(name) === kind).map((name) => ({ kind, name })));
  const corrections = kinds.some(({ kind }) => kind === 'corrections');
  return html`${corrections ? html`<p>${texts.useCorrections}</p>` : ''}
    <ul class="plain buttons">
      ${kinds.map(({ kind, name }) => html`<li><a class="button" href="/batches/${encodeURIComponent(batch.batchId)}/files/${name}">${texts.reportFiles[kind]}</a></li>`)}
    </ul>
    ${corrections && canCheck ? uploadForm(format) : ''}`;
}

function kindOf(name: string): (typeof ORDER)[number] {
  if (name.startsWith('corrections')) return 'corrections';
  return name.endsWith('.html') ? 'html' : name.endsWith('.csv') ? 'csv' : 'json';
}
