import type { BatchView } from './batch-view.ts';

/** Codes of a wait that only a corrected service profile ends. */
export const PROFILE_WAIT =
  /^(?:answers-unreadable|profile-contradiction|service-ids-repeated|service-list-unreadable)/;

/** By the code that a page waits with: what lies behind it, and whose move it is. */
const WAITING: readonly (readonly [code: RegExp, step: string])[] = [
  [
    /^folder-unusable/,
    'Make the folder that it names writable, or make room in it. Nothing is lost meanwhile: it is tried again by itself',
  ],
  [
    /^ledger-unavailable/,
    'See to the database of the ledger. Nothing is lost meanwhile, and all of it goes on by itself when the database takes writes again',
  ],
  [
    /^(http-401|service-unauthorized|key-refused)/,
    'The service refuses the API key: set the right one and start Lote again. Nothing is lost meanwhile',
  ],
  [
    PROFILE_WAIT,
    'The service profile does not fit the service: correct the file that SERVICE_PROFILE names and start Lote again. Nothing is lost meanwhile',
  ],
  [/^http-403/, 'The service refuses this application: ask its support. It is tried again by itself'],
  [
    /^first-invoices/,
    'Nothing: the first invoices were accepted, and the rest goes when one of them is issued, or after half a minute',
  ],
  [/^(retry-after|http-429)/, 'Nothing: the service asked to be left alone for a while'],
  [
    /./,
    "Nothing: it goes on by itself when the service answers again, for as long as LOTE_OUTAGE_PATIENCE says. The console's health page shows what is wrong",
  ],
];

/** The one thing that helps now, for a person who has just opened the page. */
export function nextStep({ progress, snapshot, attachedTo, end }: BatchView): string {
  if (end !== null) return afterwards(end.state, end.problems, end.batchId);
  if (attachedTo !== null) return `Look at the workflow ${attachedTo}`;
  if (progress.unusual !== undefined) return confirmOrCancel(progress.unusual.invoices);
  if (progress.paused) return 'Send the update resume to go on, or cancelRemaining';
  const { waitingFor } = progress;
  if (waitingFor !== null) return WAITING.find(([code]) => code.test(waitingFor))?.[1] ?? '';
  if (progress.phase === 'waiting') return 'Nothing. The update settleNow asks the service at once instead of waiting';
  if ((snapshot?.problems ?? 0) > 0) return 'Nothing now. The query problems lists what does not go out';
  return 'Nothing';
}

/** As code: in a sentence the UI makes curly quotes of straight ones, and the input cannot be copied. */
function confirmOrCancel(invoices: number): string {
  const input = `\`{"invoices": ${invoices}, "reason": "why it is right"}\``;
  return `Compare the total with its source. If it is right, send the update confirmTotal with ${input}; if not, cancelRemaining`;
}

function afterwards(state: string, problems: number, batchId: string): string {
  if (state === 'refused') return 'Read in the report why the file was refused, correct it, and drop it again';
  if (problems === 0) return 'Nothing: every invoice went out';
  const what = problems === 1 ? '1 invoice' : `${problems} invoices`;
  // As code: in a sentence the UI makes curly quotes of straight ones, and the input cannot be copied.
  const input = `\`{"batch": "${batchId}"}\``;
  return `${what} did not go out. Correct the rows of the corrections file and drop that one; or send the same again: start the workflow retryInvoices with ${input}`;
}
