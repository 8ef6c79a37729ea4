import { fill } from '../../src/texts/fill.ts';
import type { DetailsFormat } from '../texts/details-format.ts';
import type { DetailsTexts } from '../texts/details-texts.ts';
import type { BatchEnd, BatchView } from './batch-view.ts';

/** Codes of a wait that only a corrected service profile ends. */
export const PROFILE_WAIT =
  /^(?:answers-unreadable|profile-contradiction|service-ids-repeated|service-list-unreadable)/;

/** By the code that a page waits with: what lies behind it, and whose move it is. */
const WAITING: readonly (readonly [
  code: RegExp,
  step: Exclude<keyof DetailsTexts['next'], 'contradicted' | 'notOut'>,
])[] = [
  [/^folder-unusable/, 'folder'],
  [/^ledger-unavailable/, 'ledger'],
  [/^(http-401|service-unauthorized|key-refused)/, 'key'],
  [PROFILE_WAIT, 'profile'],
  [/^http-403/, 'forbidden'],
  [/^first-invoices/, 'firstInvoices'],
  [/^(retry-after|http-429)/, 'leftAlone'],
  [/./, 'away'],
];

/** The one thing that helps now, for a person who has just opened the page. */
export function nextStep(
  { progress, snapshot, attachedTo, end, isUnreported }: BatchView,
  format: DetailsFormat,
): string {
  const { next } = format.texts;
  if (end !== null) return afterwards(end, format);
  if (isUnreported) return next.unreported;
  if (attachedTo !== null) return fill(next.lookAt, { workflow: attachedTo });
  if (progress.unusual !== undefined) {
    const input = asCode({ invoices: progress.unusual.invoices, reason: next.why });
    return fill(next.confirm, { input });
  }
  if (progress.paused) return next.resume;
  const { waitingFor } = progress;
  if (waitingFor !== null) return next[WAITING.find(([code]) => code.test(waitingFor))?.[1] ?? 'away'];
  if (progress.phase === 'waiting') return next.settleNow;
  return (snapshot?.problems ?? 0) > 0 ? next.problems : next.nothing;
}

function afterwards(
  { state, problems, batchId, contradicted = 0, totalsDiffer }: BatchEnd,
  { texts: { next }, plural }: DetailsFormat,
): string {
  if (state === 'refused') return next.refused;
  const steps = contradicted === 0 ? [] : [plural(next.contradicted, contradicted)];
  const notOut = problems - contradicted;
  if (totalsDiffer === true) steps.push(next.totalsDiffer);
  else if (notOut > 0) steps.push(fill(plural(next.notOut, notOut), { input: asCode({ batch: batchId }) }));
  return steps.length === 0 ? next.allOut : steps.join('. ');
}

/** As code: in a sentence the UI makes curly quotes of straight ones, and the input cannot be copied. */
function asCode(input: Readonly<Record<string, string | number>>): string {
  const members = Object.entries(input).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `\`{${members.join(', ')}}\``;
}
