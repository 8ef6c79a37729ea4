import type { ReplayedPlace } from '../../domain/ports/replay.ts';
import { compileExpressions } from '../../service-profile/expression.ts';
import { readPlace } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { ExchangeResult } from '../../service/exchange-result.ts';
import { readMerchantList } from '../../service/merchants/merchant-list.ts';
import { pageReader, type PageReader } from '../../service/merchants/merchant-page.ts';
import type { ExchangeRecording } from '../recordings/recording.ts';
import { NO_FACTS, placeFound, type ReadRecord } from './read-record.ts';
import { recordedEnd } from './recorded-end.ts';

/** The client asks for it, and no answer to it was recorded. */
const NOT_RECORDED: ExchangeResult = { kind: 'not-sent', code: 'page-not-recorded', retryAfterMs: null };

/**
 * Reads the recorded pages of the list of merchants as the client would: from the first page on, by what the profile says of the next one. `recordings` are
 * in the order of their times.
 */
export async function replayList(
  recordings: readonly ExchangeRecording[],
  profile: ServiceProfile,
): Promise<readonly ReadRecord[]> {
  const pages = await Promise.all(recordings.map(pageOf(pageReader(profile), profile)));
  const [opening] = recordings;
  if (opening === undefined) return [];
  const starts = recordings.flatMap(({ request }, index) => (request.path === opening.request.path ? [index] : []));
  for (const start of starts) {
    const page = pages[start];
    if (page === undefined || page.isReached) continue;
    const end = starts.find((other) => other > start && isNewReading(pages, start, other)) ?? pages.length;
    // One reading after the other, each over pages of its own.
    // oxlint-disable-next-line no-await-in-loop
    await readFrom(pages.slice(start, end), profile);
  }
  return pages.map(recordOf);
}

interface Page {
  readonly recording: ExchangeRecording;
  readonly end: ExchangeResult;
  /** Sentence; null: the page can be read. */
  readonly problem: string | null;
  readonly merchants: number;
  readonly places: readonly ReplayedPlace[];
  isReached: boolean;
  /** What became of the reading that began here. */
  outcome: { readonly understood: boolean; readonly says: string } | null;
}

/** The first page may be asked for twice in one reading, without and with its number. */
function isNewReading(pages: readonly Page[], start: number, other: number): boolean {
  return (
    pages
      .slice(start + 1, other)
      .some(({ recording }) => recording.request.path !== pages[start]?.recording.request.path) || other === start + 1
  );
}

function pageOf(readPage: PageReader, profile: ServiceProfile) {
  const { items, id, nif, nextCursor, nextLink, paging, total, pages, more } = profile.merchants;
  const evaluateItem = compileExpressions([id, nif]);
  return async (recording: ExchangeRecording): Promise<Page> => {
    const end = recordedEnd(recording);
    const read = await readPage(end);
    const state = { recording, end, isReached: false, outcome: null };
    if ('kind' in read) return { ...state, problem: read.reason.message, merchants: 0, places: [] };
    const { document } = read;
    const found = readPlace(document, items);
    const [body] = Array.isArray(found) ? (found as readonly unknown[]) : [];
    const first = evaluateItem === null ? { body } : await evaluateItem({ body });
    const next =
      paging === 'cursor'
        ? [placeFound('merchants.nextCursor', nextCursor, readPlace(document, nextCursor))]
        : paging === 'link'
          ? [placeFound('merchants.nextLink', nextLink, readPlace(document, nextLink))]
          : [];
    const counts = Object.entries({ total, pages, more }).flatMap(([key, place]) =>
      place === null ? [] : [placeFound(`merchants.${key}`, place, readPlace(document, place))],
    );
    const merchants = read.merchants.length;
    const places = [
      placeFound('merchants.items', items, `${merchants} items`),
      ...(merchants === 0
        ? []
        : [
            placeFound('merchants.id', id, read.merchants[0]?.merchantId),
            placeFound('merchants.nif', nif, readPlace(first, nif)),
          ]),
      ...next,
      ...counts,
    ];
    return { ...state, problem: null, merchants, places };
  };
}

/** Lets the client read the list from recorded pages, and notes which of them it asks for. */
async function readFrom(pages: readonly Page[], profile: ServiceProfile): Promise<void> {
  const [first] = pages;
  if (first === undefined) return;
  let missing: string | null = null;
  let reached = 0;
  const answer = await readMerchantList(
    async (path) => {
      const page =
        pages.find((one) => !one.isReached && isSame(one.recording.request.path, path)) ??
        (reached === 0 ? first : undefined);
      if (page === undefined) {
        missing = path;
        return NOT_RECORDED;
      }
      page.isReached = true;
      reached += 1;
      return page.end;
    },
    { profile, baseUrl: first.recording.request.base },
  );
  const left = pages.filter(({ isReached }) => !isReached).length;
  const counted = `${reached} ${reached === 1 ? 'page' : 'pages'}`;
  if (answer.kind === 'list')
    first.outcome = { understood: true, says: `the list is whole: ${answer.merchants.length} merchants in ${counted}` };
  else if (missing !== null && left === 0)
    first.outcome = { understood: true, says: `the list goes on at ${String(missing)}, which was not recorded` };
  else if (missing !== null)
    first.outcome = {
      understood: false,
      says: `the list goes on at ${String(missing)}, which was not recorded, while other pages were`,
    };
  else first.outcome = { understood: false, says: answer.reason.message };
}

function recordOf({ recording, problem, merchants, places, isReached, outcome }: Page): ReadRecord {
  const { name: record, at, operation, answer } = recording;
  const alone = problem ?? `${merchants} ${merchants === 1 ? 'merchant' : 'merchants'}`;
  const unreached = isReached || problem !== null ? [] : ['the profile does not ask for this page'];
  const told = outcome === null || outcome.says === alone ? [] : [outcome.says];
  return {
    row: {
      ...{ record, at, operation, status: answer.status, places },
      understood: problem === null && isReached && outcome?.understood !== false,
      says: [alone, ...unreached, ...told].join('; '),
    },
    facts: NO_FACTS,
  };
}

/** The same path with the same parameters in any order. */
function isSame(one: string, other: string): boolean {
  return one === other || normal(one) === normal(other);
}

function normal(path: string): string {
  const mark = path.indexOf('?');
  if (mark < 0) return path;
  const parameters = new URLSearchParams(path.slice(mark + 1));
  parameters.sort();
  const query = parameters.toString();
  return query === '' ? path.slice(0, mark) : `${path.slice(0, mark)}?${query}`;
}
