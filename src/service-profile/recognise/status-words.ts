import { readPlace, type Document, type Place } from '../place.ts';
import { wordAt } from '../word.ts';
import { messagePlaces } from './error-words.ts';
import { guessed, missing, seen, unconfirmed, type Finding, type Missing, type Recognised } from './finding.ts';
import { failedByForm, isPending, meaningOf, saysIssued } from './known-words.ts';
import { leavesOf } from './leaves.ts';
import { isWord, shownWord } from './shown.ts';

/** What became of the invoice by the answers to GET, in order. */
export interface ShownInvoice {
  readonly shown: readonly Document[];
  /** An event said that it is issued. */
  readonly eventSaysIssued: boolean;
  /** The answers to GET of an invoice that must fail; empty: none was made. */
  readonly failing: readonly Document[];
}

/** A place at which the status may stand, and its words in order. */
interface StatusPlace {
  readonly place: string;
  readonly words: readonly (string | null)[];
  readonly score: number;
}

const KEYS: readonly (readonly [RegExp, number])[] = [
  [/^(?:status|invoicestatus)$/, 100],
  [/^(?:state|invoicestate)$/, 98],
  [/^outcome$/, 90],
  [/^(?:stage|phase|lifecycle|situation|statuscode|statecode)$/, 80],
];

/** Where the status of an invoice stands, its words, and why one failed. */
export function recogniseStatus(invoice: ShownInvoice): Recognised {
  const { shown, failing } = invoice;
  const places = statusPlaces(shown);
  const [best] = places;
  if (best === undefined)
    return [
      missing(
        'invoice.status',
        shown.length === 0 ? 'no answer to a GET came' : 'no key of the invoice looks like a status',
      ),
      missing('invoice.issued', 'the place of the status is not known'),
    ];
  const place = withFallback(best, places);
  const last = best.words.at(-1) ?? null;
  return [
    seen('invoice.status', place, `GET said ${best.words.map(shownWord).filter(isNews).join(', then ')} there`),
    ...issuedWord(last, best, invoice),
    ...failedWords(last, { best, failing }),
    ...reasons(shown, failing),
  ];
}

/** The last word of the invoice at the likeliest place of its status; null: there is none. */
export function lastStatusWord(shown: readonly Document[]): string | null {
  return statusPlaces(shown)[0]?.words.at(-1) ?? null;
}

function isNews(word: string, index: number, words: readonly string[]): boolean {
  return word !== words[index - 1];
}

function statusPlaces(shown: readonly Document[]): readonly StatusPlace[] {
  const candidates = new Map<string, number>();
  for (const { body, status } of shown)
    for (const { place, key, value, steps } of leavesOf(body)) {
      const score = KEYS.find(([pattern]) => pattern.test(key))?.[1];
      const word = wordAt(value);
      if (score === undefined || (word !== null && !isWord(word)) || value === status) continue;
      if (typeof value !== 'boolean') candidates.set(place, score - steps.length);
    }
  return [...candidates]
    .map(([place, score]) => ratedPlace(place, score, shown))
    .filter(({ words }) => words.some((word) => word !== null))
    .toSorted((one, other) => other.score - one.score);
}

function ratedPlace(place: string, score: number, shown: readonly Document[]): StatusPlace {
  const words = shown.map((one) => wordAt(readPlace(one, place)));
  const changed = new Set(words).size > 1 ? 60 : 0;
  const known = meaningOf(words.at(-1) ?? '') === null ? 0 : 40;
  return { place, words, score: score + changed + known };
}

/** A place that is empty until the end says nothing meanwhile; the next one that always says something stands behind it. */
function withFallback(best: StatusPlace, places: readonly StatusPlace[]): Place {
  if (best.words.every((word) => word !== null)) return best.place;
  const other = places.find((one) => one !== best && one.words.every((word) => word !== null));
  return other === undefined ? best.place : [best.place, other.place];
}

function issuedWord(last: string | null, best: StatusPlace, { eventSaysIssued, failing }: ShownInvoice): Recognised {
  const key = 'invoice.issued';
  if (last === null) return [missing(key, 'no status stood there in the end')];
  const meaning = meaningOf(last);
  const failed = wordAtEnd(failing, best.place);
  // A place whose word never differs says nothing about the invoice.
  const differs = new Set(best.words).size > 1 || (failed !== null && failed !== last);
  if (meaning === 'failed') return [missing(key, `the invoice ended as ${shownWord(last)}: look at the service why`)];
  if (saysIssued(last)) return [seen(key, [last], `the last word of GET is ${shownWord(last)}`)];
  if (eventSaysIssued && !isPending(last) && (differs || meaning === 'issued'))
    return [seen(key, [last], `an event said that it is issued, and then GET said ${shownWord(last)}`)];
  if (meaning === 'issued')
    return [
      unconfirmed(key, [last], `the last word of GET is ${shownWord(last)}, which other services use for issued`),
    ];
  return [missing(key, `the last word of GET was ${shownWord(last)}; if it means issued, write it there`)];
}

function failedWords(
  last: string | null,
  { best, failing }: { readonly best: StatusPlace; readonly failing: readonly Document[] },
): Recognised {
  const key = 'invoice.failed';
  const word = wordAtEnd(failing, best.place);
  if (word !== null && word !== last && meaningOf(word) !== 'issued' && !isPending(word) && !best.words.includes(word))
    return [seen(key, [word], `the invoice that had to fail ended as ${shownWord(word)}`)];
  const byForm = last === null ? null : failedByForm(last);
  if (byForm !== null) return [guessed(key, [byForm], `by the form of ${shownWord(last)}; no invoice failed`)];
  return [missing(key, failing.length === 0 ? NO_FAILURE : 'the invoice that had to fail did not end as failed')];
}

function wordAtEnd(shown: readonly Document[], place: string): string | null {
  const end = shown.at(-1);
  return end === undefined ? null : wordAt(readPlace(end, place));
}

const NO_FAILURE = 'no invoice failed: probe with --failing-tax-code, or write the word of the service there';

/** What a failed invoice has and an issued one has not. */
function reasons(shown: readonly Document[], failing: readonly Document[]): Recognised {
  const end = failing.at(-1);
  if (end === undefined)
    return [missing('invoice.reasonCode', NO_FAILURE), missing('invoice.reasonMessage', NO_FAILURE)];
  const issued = shown.at(-1) ?? { body: undefined };
  const fresh = leavesOf(end.body).filter(
    ({ place, value }) => typeof value === 'string' && wordAt(readPlace(issued, place)) === null,
  );
  return reasonsAt(
    'invoice',
    end,
    fresh.map(({ place }) => place),
  );
}

/** Where the reason of a failure stands among places that only a failure fills. */
export function reasonsAt(section: 'invoice' | 'event', end: Document, fresh: readonly string[]): Recognised {
  const sentences = fresh.filter((place) => /\s/.test(String(readPlace(end, place))));
  const words = fresh.filter((place) => isWord(String(readPlace(end, place))));
  const message = messagePlaces(end).find(({ place }) => sentences.includes(place))?.place ?? sentences[0];
  const code = words.find((place) => /code|reason$/i.test(place)) ?? words[0];
  return [
    found(`${section}.reasonCode`, code, code === undefined ? '' : shownWord(readPlace(end, code))),
    found(`${section}.reasonMessage`, message, 'a sentence'),
  ];
}

function found(key: string, place: string | undefined, what: string): Finding | Missing {
  return place === undefined
    ? missing(key, 'the failure has no such text')
    : seen(key, place, `a failure has ${what} there, and nothing else has`);
}
