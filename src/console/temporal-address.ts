import type { ConsoleOptions } from './console-options.ts';
import { webAddress } from './pages/page-layout.ts';

type Links = ConsoleOptions['links'];

/** A workflow's page in the Temporal UI; null where there is none. */
export function workflowAddress(links: Links, workflowId: string): string | null {
  const base = workflowsAddress(links);
  return base === null ? null : `${base}/${encodeURIComponent(workflowId)}`;
}

/** The start form of a batch, filled in as far as the Temporal UI lets itself be: it ignores an input in the address. */
export function temporalStartAddress(links: Links): string | null {
  const base = workflowsAddress(links);
  if (base === null) return null;
  const fields = new URLSearchParams({ taskQueue: links.taskQueue ?? 'lote', workflowType: 'invoiceBatch' });
  return `${base}/start-workflow?${fields.toString()}`;
}

function workflowsAddress({ temporalUi, namespace }: Links): string | null {
  const base = webAddress(temporalUi);
  return base === null
    ? null
    : `${base.replace(/\/+$/u, '')}/namespaces/${encodeURIComponent(namespace ?? 'default')}/workflows`;
}
