import type { ReconciliationResult } from '../../contract/messages.ts';

/** What `lote reconcile` prints: what it did, line by line, and why something was left. */
export function reconciliationText(result: ReconciliationResult): string {
  const { repeated, found, asked, settled, orphans, reports } = result;
  return [
    ...(orphans.length === 0 ? [] : [closed(orphans)]),
    `Unknown invoices repeated ${repeated}, of them found ${found}`,
    `Documents asked for ${asked}, of them settled ${settled}`,
    `Reports written again ${reports.length}${reports.length === 0 ? '' : `: ${reports.join(', ')}`}`,
    ...whyNotAsked(result),
    '',
  ].join('\n');
}

function whyNotAsked({ serviceAway, profileFoundWrong }: ReconciliationResult): readonly string[] {
  if (!serviceAway) return [];
  return profileFoundWrong
    ? [
        'The rest was not asked for: the service profile was found to be wrong, and `lote status` says how. Correct it and start Lote again.',
      ]
    : ['The service did not answer; the rest waits for the next time.'];
}

/** Nothing of them is repeated by the run that closes them. */
function closed(orphans: readonly string[]): string {
  return `Batches without a run closed ${orphans.length}: ${orphans.join(', ')}. What they left unknown was not repeated: read their reports, then reconcile once more.`;
}
