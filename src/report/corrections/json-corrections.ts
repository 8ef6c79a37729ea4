import { READ_AS } from '../../domain/read-as.ts';
import { checkAllFound, type CorrectionsPlan } from './corrections-plan.ts';
import type { OriginalJson } from './original-file.ts';
import { topLevelMembers } from '../formats/top-level-members.ts';

const LOTE_MEMBERS = new Set(['lote_state', 'lote_reason', READ_AS]);

/**
 * Whole invoice objects of the planned rows, their tokens untouched, with `lote_state` and `lote_reason` at the end. `lote_read_as` comes first: it
 * chooses the profile from the beginning of the file, and an invoice may be longer than that.
 */
export async function* jsonCorrections(original: OriginalJson, plan: CorrectionsPlan): AsyncGenerator<string> {
  const { before, between, after } = FRAMES[original.format];
  let separator: string = before;
  const readAs =
    original.readAs === undefined || original.readAs === '' ? [] : [`"${READ_AS}":${JSON.stringify(original.readAs)}`];
  let found = 0;
  for await (const { rows, text } of original.objects) {
    const corrections = rows.flatMap((row) => plan.byRow.get(row) ?? []);
    const [correction] = corrections;
    if (correction === undefined) continue;
    found += corrections.filter(({ ofInvoice }) => ofInvoice).length;
    const members = topLevelMembers(text).filter(({ name }) => !LOTE_MEMBERS.has(name));
    const own = [
      `"lote_state":${JSON.stringify(correction.state)}`,
      `"lote_reason":${JSON.stringify(correction.reason)}`,
    ];
    yield `${separator}{${[...readAs, ...members.map((member) => member.text), ...own].join(',')}}`;
    separator = between;
  }
  if (separator === before) yield before;
  yield after;
  checkAllFound(plan, found);
}

const FRAMES = {
  array: { before: '[\n', between: ',\n', after: '\n]\n' },
  invoices: { before: '{"invoices":[\n', between: ',\n', after: '\n]}\n' },
  ndjson: { before: '', between: '\n', after: '\n' },
} as const;
