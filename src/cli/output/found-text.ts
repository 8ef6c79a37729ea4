import { CONTRADICTION_TEXTS } from '../../texts/contradictions.ts';
import { plainText } from '../../texts/plain-text.ts';
import type { SearchAnswer } from '../../wiring/reports/batch-reader.ts';

/** `lote find`: what was found, newest file first, why it is as it is, and how far the search went. `several`: each names its application. */
export function foundText(
  { found, lookedAt, backTo, next }: SearchAnswer,
  { several, timeZone }: { readonly several: boolean; readonly timeZone?: string },
): string {
  const lines = [
    found.length === 0 ? 'Nothing found.' : `${found.length} ${found.length === 1 ? 'invoice' : 'invoices'} found:`,
    ...found.flatMap((one) => [
      `  ${one.ref}  ${one.state}`,
      `    merchant ${one.merchantNif}${one.net === null ? '' : `, net ${one.net} ${one.currency ?? ''}`}${one.serviceId === null ? '' : `, ${one.serviceId}`}`,
      `    ${one.file}, ${one.rows.length === 1 ? 'row' : 'rows'} ${one.rows.join(', ')}, read ${dayOf(one.readAt, timeZone)}, batch ${one.batchId}${several && one.application !== undefined ? `, application ${one.application}` : ''}`,
      ...(one.reason === null ? [] : [`    ${one.reason.message}`]),
      ...(one.contradictions ?? []).map((flag) => `    ${CONTRADICTION_TEXTS.en.flags[flag]}`),
      ...((one.flags ?? []).length === 0 ? [] : [`    flags ${one.flags?.join(', ')}`]),
    ]),
    ...(backTo === null
      ? []
      : [
          `${lookedAt} ${lookedAt === 1 ? 'invoice was' : 'invoices were'} looked at one by one, back to ${dayOf(backTo, timeZone)}.`,
        ]),
    ...(next === null ? [] : [`Older ones were not. To go on, give the same command with --after ${next}`]),
  ];
  // References, names of files and the service's own words may hold what a terminal takes for a command.
  return `${lines.map((line) => plainText(line)).join('\n')}\n`;
}

/** In the time zone of the machine by default: a person reads it. */
function dayOf(time: number, timeZone: string | undefined): string {
  const options = { dateStyle: 'short', timeStyle: 'short', ...(timeZone === undefined ? {} : { timeZone }) } as const;
  return new Intl.DateTimeFormat('sv-SE', options).format(time);
}
