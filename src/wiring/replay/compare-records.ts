import type { ReplayFinding, ReplayRow } from '../../domain/ports/replay.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { ReadRecord } from './read-record.ts';

/** Words that services use for an invoice whose end is open, in the languages in which they are known. */
const INTERIM =
  /^(?:state_|status_)?(?:accepted|authorizing|created|draft|in[-_ ]?(?:process|progress|review)|new|open|pending|processing|queued|received|registered|running|scheduled|sending|sent|started|submitted|validating|waiting|a[-_ ]processar|em[-_ ]processamento|en[-_ ]proceso|pendente|pendiente|procesando|0|1)$/i;

const FEWEST = 3;

/** What records say together: rows whose words turn out to be unknown, and what holds of several records. */
export function compareRecords(
  records: readonly ReadRecord[],
  profile: ServiceProfile,
): { readonly rows: readonly ReplayRow[]; readonly findings: readonly ReplayFinding[] } {
  const finals = finalWords(records);
  const rows = records.map((record) => withKnownWord(record, finals));
  const findings = [...contradictions(finals), ...typesWithoutMeaning(records, profile), ...emptyPlaces(rows)];
  return { rows, findings };
}

interface FinalWords {
  readonly issued: ReadonlySet<string>;
  readonly failed: ReadonlySet<string>;
}

function finalWords(records: readonly ReadRecord[]): FinalWords {
  const ids = (verdict: 'issued' | 'failed'): ReadonlySet<string> =>
    new Set(
      records.flatMap(({ facts }) => (facts.verdict === verdict && facts.serviceId !== null ? [facts.serviceId] : [])),
    );
  return { issued: ids('issued'), failed: ids('failed') };
}

/** A word that is in neither list is one for an open end only if it is a usual one, or the invoice has a final word in another record. */
function withKnownWord({ row, facts }: ReadRecord, { issued, failed }: FinalWords): ReplayRow {
  const { serviceId, word, verdict } = facts;
  if (row.operation !== 'get-invoice' || verdict !== 'open' || word === null || INTERIM.test(word)) return row;
  if (serviceId !== null && (issued.has(serviceId) || failed.has(serviceId))) return row;
  const says = `the word ${word} is in neither invoice.issued nor invoice.failed, and no record shows how ${serviceId ?? 'it'} ended`;
  return { ...row, understood: false, says };
}

function contradictions({ issued, failed }: FinalWords): readonly ReplayFinding[] {
  const both = [...issued].filter((id) => failed.has(id));
  if (both.length === 0) return [];
  const message = `${both.length} ${both.length === 1 ? 'invoice is' : 'invoices are'} issued in one record and failed in another (${both.slice(0, 3).join(', ')}): two words are swapped, or one of them means something else`;
  return [{ settings: ['event.issued', 'event.failed', 'invoice.issued', 'invoice.failed'], message }];
}

/** Types that mean nothing are usual beside those that do, and a sign of a wrong profile without any. */
function typesWithoutMeaning(records: readonly ReadRecord[], { event }: ServiceProfile): readonly ReplayFinding[] {
  const typed = records.filter(({ row, facts }) => row.operation === 'delivery' && facts.word !== null);
  if (typed.length === 0 || typed.some(({ facts }) => facts.verdict !== 'open')) return [];
  const types = [...new Set(typed.map(({ facts }) => facts.word))].slice(0, 5).join(', ');
  const message = `none of ${typed.length} events has a type of event.issued (${event.issued.join(', ')}) or event.failed (${event.failed.join(', ')}); their types are ${types}`;
  return [{ settings: ['event.issued', 'event.failed'], message }];
}

/** Places at which no record has anything: they decide nothing alone, and are wrong all the same. */
function emptyPlaces(rows: readonly ReplayRow[]): readonly ReplayFinding[] {
  return [...OPTIONAL].flatMap(([setting, of]) => {
    const places = rows.flatMap((row) => row.places.filter((one) => one.setting === setting));
    if (places.length < FEWEST || places.some(({ value }) => value !== null)) return [];
    return [
      {
        settings: [setting],
        message: `nothing stands at ${places[0]?.place ?? ''} (${setting}) in ${places.length} of ${places.length} ${of}`,
      },
    ];
  });
}

const OPTIONAL: ReadonlyMap<string, string> = new Map([
  ['error.code', 'errors'],
  ['error.message', 'errors'],
  ['event.eventId', 'events'],
  ['event.reasonCode', 'events of failures'],
  ['event.reasonMessage', 'events of failures'],
  ['invoice.reasonCode', 'failures'],
  ['invoice.reasonMessage', 'failures'],
]);
