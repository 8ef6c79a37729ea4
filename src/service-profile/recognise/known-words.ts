const ISSUED = new Set([
  ...['issued', 'done', 'completed', 'complete', 'succeeded', 'finalized', 'finalised', 'posted', 'registered'],
  ...[
    'certified',
    'approved',
    'authorized',
    'authorised',
    'published',
    'emitted',
    'emitida',
    'emitido',
    'paid',
    'signed',
  ],
]);
const FAILED = new Set([
  ...['failed', 'failure', 'error', 'errored', 'rejected', 'broken', 'void', 'voided', 'cancelled', 'canceled'],
  ...['invalid', 'refused', 'declined', 'denied', 'rejeitada', 'anulada'],
]);

const PENDING = new Set([
  ...['pending', 'processing', 'queued', 'draft', 'created', 'new', 'open', 'submitted', 'received', 'accepted'],
  ...['progress', 'running', 'waiting', 'scheduled', 'sent', 'sending', 'validating', 'started', 'unpaid'],
]);

/** Whether a word says that something is still under way. */
export function isPending(word: string): boolean {
  return partsOf(word).some((part) => PENDING.has(part));
}

function partsOf(word: string): readonly string[] {
  return word
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
}

/** What a word of a service means by its parts, `STATE_ISSUED` and `InvoiceIssued` too; null: it is not known. */
export function meaningOf(word: string): 'issued' | 'failed' | null {
  const parts = partsOf(word);
  // Something that names both, or negates one, is not read.
  if (parts.some((part) => part === 'not' || part === 'un')) return null;
  const issued = parts.some((part) => ISSUED.has(part));
  const failed = parts.some((part) => FAILED.has(part));
  return issued === failed ? null : issued ? 'issued' : 'failed';
}

/** Whether a word says `issued` itself, and nothing that only may mean it, such as `approved`. */
export function saysIssued(word: string): boolean {
  return /issued|emitid[ao]/i.test(word) && meaningOf(word) === 'issued';
}

/** The word for failed by the form of the one for issued: `STATE_ISSUED` gives `STATE_FAILED`; null: it has no such form. */
export function failedByForm(issued: string): string | null {
  const replaced = issued.replaceAll('ISSUED', 'FAILED').replaceAll('Issued', 'Failed').replaceAll('issued', 'failed');
  return replaced === issued ? null : replaced;
}
