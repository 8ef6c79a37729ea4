import type { Contradiction } from './check/contradiction.ts';
import { receiverContradictions } from './check/receiver-contradictions.ts';
import { ruleContradictions } from './check/rule-contradictions.ts';
import type { Place } from './place.ts';
import type { ServiceProfile } from './profile.ts';
import { sameWord } from './word.ts';

/** Finds contradictions between settings of some sections. */
interface Finder {
  readonly sections: readonly (keyof ServiceProfile)[];
  readonly find: (profile: ServiceProfile) => readonly Contradiction[];
}

const FINDERS: readonly Finder[] = [
  { sections: ['invoice'], find: ({ invoice }) => inTwoLists('invoice', invoice) },
  { sections: ['event'], find: ({ event }) => inTwoLists('event', event) },
  { sections: ['invoice'], find: ({ invoice }) => samePlace('invoice', { id: invoice.id, status: invoice.status }) },
  { sections: ['event'], find: ({ event }) => samePlace('event', { type: event.type, invoiceId: event.invoiceId }) },
  { sections: ['event'], find: ({ event }) => impossibleItems(event) },
  { sections: ['merchants'], find: ({ merchants }) => impossiblePaging(merchants) },
  { sections: ['signature', 'webhook'], find: receiverContradictions },
  { sections: ['answers', 'idempotency'], find: ruleContradictions },
];

/** What no single setting shows: words that mean two things, places that another setting makes impossible. */
export function contradictionsIn(
  profile: ServiceProfile,
  /** Sections about which nothing is said. */
  without: ReadonlySet<string> = new Set(),
): readonly Contradiction[] {
  return FINDERS.filter(({ sections }) => !sections.some((section) => without.has(section))).flatMap(({ find }) =>
    find(profile),
  );
}

function inTwoLists(
  section: 'invoice' | 'event',
  { issued, failed }: { readonly issued: readonly string[]; readonly failed: readonly string[] },
): readonly Contradiction[] {
  return failed.flatMap((word, index) => {
    if (!issued.some((other) => sameWord(word, other))) return [];
    const message = `no word may stand in both ${section}.issued and ${section}.failed, found ${JSON.stringify(word)}`;
    return [{ path: [section, 'failed', index], message }];
  });
}

/** An id is never one of the words of a list. */
function samePlace(section: 'invoice' | 'event', places: Readonly<Record<string, Place>>): readonly Contradiction[] {
  const [[one, first] = ['', ''], [other, second] = ['', '']] = Object.entries(places);
  if (JSON.stringify(first) !== JSON.stringify(second)) return [];
  const message = `must stand at another place than ${section}.${one}: an id is no word that says what happened`;
  return [{ path: [section, other], message }];
}

/** A header is one text, and so is the body as text: neither is a list, and neither belongs to one item. */
function impossibleItems({ items, type, invoiceId }: ServiceProfile['event']): readonly Contradiction[] {
  if (items === null) return [];
  if (isTextOnly(items))
    return [{ path: ['event', 'items'], message: `must be a place in the JSON, for a text is no list` }];
  return Object.entries({ type, invoiceId })
    .filter(([, place]) => place === 'text')
    .map(([key]) => ({
      path: ['event', key],
      message: 'must be a place in an item, for event.items is set, found "text"',
    }));
}

function impossiblePaging(merchants: ServiceProfile['merchants']): readonly Contradiction[] {
  const { paging, sizeParameter, pageSize, endsAtShortPage, items } = merchants;
  const found: Contradiction[] = [];
  const say = (key: keyof typeof merchants, message: string): void =>
    void found.push({ path: ['merchants', key], message });
  if (isTextOnly(items)) say('items', 'must be a place in the JSON, for a text is no list');
  if (endsAtShortPage && pageSize === null)
    say('pageSize', 'must be set, for merchants.endsAtShortPage compares with it');
  else if (sizeParameter !== null && pageSize === null)
    say('pageSize', 'must be set, for merchants.sizeParameter sends it');
  const parameter = {
    cursor: 'cursorParameter',
    page: 'pageParameter',
    offset: 'offsetParameter',
    link: null,
  } as const;
  const key = parameter[paging];
  if (key !== null && merchants[key] === sizeParameter)
    say('sizeParameter', `must be another parameter than merchants.${key}, found ${JSON.stringify(sizeParameter)}`);
  return found;
}

function isTextOnly(place: Place): boolean {
  return [place].flat().every((one) => one === 'text' || one.startsWith('header:'));
}
