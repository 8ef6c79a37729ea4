import type { Document } from '../place.ts';
import { readId } from '../read-id.ts';
import { headerLeaves, jsonataPath, leavesOf, type Leaf } from './leaves.ts';

/** A place of an answer at which an id may stand, and the id that is read there. */
export interface IdPlace {
  /** A place of the service profile. */
  readonly place: string;
  readonly id: string;
  /** As it stands there. */
  readonly value: unknown;
  /** By the names of keys: more is likelier. */
  readonly score: number;
}

const OWN_ID = /^(?:invoice|merchant|document|resource|taxpayer|company)?(?:id|uuid|guid)$/;
const OTHER_ID = /(?:id|uuid)$/;
const NUMBER = /^(?:number|nr|no|code|reference|ref|key)$/;
const ADDRESS = /^(?:name|href|self|url|uri|link|resource|location)$/;
/** `projects/main/invoices/7`. */
const RESOURCE_NAME = /^\/{0,2}[\w.-]+(?:\/[\w.-]+)+$/;

/** Everything in an answer that could be the id of what was created, the likeliest first; values that were sent are none. */
export function idCandidates(document: Document, sent: readonly string[]): readonly IdPlace[] {
  return idPlaces(document)
    .filter(({ value, id, score }) => score > 0 && !sent.includes(String(value)) && !sent.includes(id))
    .toSorted((one, other) => other.score - one.score);
}

/** The places of an answer at which this id stands, the likeliest first. */
export function placesOfId(document: Document, id: string): readonly IdPlace[] {
  return idPlaces(document)
    .filter((one) => one.id === id)
    .toSorted((one, other) => other.score - one.score);
}

/** The published prefix where the id has it, else none: one id shows no rule for all. */
export function prefixOf(id: string, published: string): string {
  return id.startsWith(published) ? published : '';
}

function idPlaces(document: Document): readonly IdPlace[] {
  const location = headerLeaves(document).filter(({ key }) => key === 'location');
  return [...leavesOf(document.body), ...location].flatMap((leaf) => {
    const found = readLeaf(leaf);
    return found === null ? [] : [{ ...found, value: leaf.value, score: scoreOf(leaf, found.id) }];
  });
}

function readLeaf({ place, steps, value }: Leaf): Pick<IdPlace, 'place' | 'id'> | null {
  if (typeof value === 'string' && !value.startsWith('/') && RESOURCE_NAME.test(value)) {
    const id = readId(value.split('/').at(-1), '');
    return id === null ? null : { place: `jsonata:$split(${jsonataPath(steps)}, "/")[-1]`, id };
  }
  const id = readId(value, '');
  if (id === null) return null;
  return { place: place === 'header:location' ? 'header:Location' : place, id };
}

function scoreOf({ key, steps, place }: Leaf, id: string): number {
  const prefix = /^(?:inv|mrc)_/.test(id) ? 50 : 0;
  const depth = steps.length;
  if (place === 'header:location') return 70;
  if (OWN_ID.test(key)) return 100 + prefix - depth;
  if (OTHER_ID.test(key)) return 40 + prefix - depth;
  if (NUMBER.test(key)) return 60 + prefix - depth;
  if (ADDRESS.test(key)) return 50 + prefix - depth;
  return prefix - depth;
}
