import { isPlainObject } from '../domain/plain-object.ts';
import { expressionOf, type Place } from './place.ts';
import type { ServiceProfile } from './profile.ts';

/** A short example of what a place reads. */
export interface PlaceExample {
  /** `json`: a body; `header`: a line; `text`: the body is the text. */
  readonly kind: 'json' | 'header' | 'text';
  readonly text: string;
}

/** What stands at a place, as an example. */
type Sample = string | number | boolean | readonly object[] | undefined;

/** By setting. */
const SAMPLES: Readonly<Record<string, (profile: ServiceProfile) => Sample>> = {
  'answers.success': ({ answers }) => answers.success?.is[0],
  'answers.status': () => 422,
  'error.code': () => 'invalid_tax_code',
  'error.message': () => 'This tax code is not known',
  'invoice.id': ({ invoice }) => `${invoice.idPrefix}7Kd2`,
  'invoice.status': ({ invoice }) => invoice.issued[0],
  'invoice.reasonCode': () => 'engine_rejected',
  'invoice.reasonMessage': () => 'The tax authority refused it',
  'merchants.createdId': ({ merchants }) => `${merchants.idPrefix}4Xq9`,
  'merchants.items': () => [{}],
  'merchants.id': ({ merchants }) => `${merchants.idPrefix}4Xq9`,
  'merchants.nif': () => '501964843',
  'merchants.nextCursor': () => 'c2',
  'merchants.nextLink': () => '/merchants?after=c2',
  'merchants.total': () => 240,
  'merchants.pages': () => 3,
  'merchants.more': () => true,
  'webhook.secret': () => '…',
  'event.payload': () => 'eyJ0eXBlIjoi…',
  'event.items': () => [{}],
  'event.type': ({ event }) => event.issued[0],
  'event.invoiceId': ({ invoice }) => `${invoice.idPrefix}7Kd2`,
  'event.eventId': () => 'evt_1',
  'event.reasonCode': () => 'engine_rejected',
  'event.reasonMessage': () => 'The tax authority refused it',
};

/** The place of a setting; null: the setting is none, or is not set. */
export function placeOfSetting(key: string, value: unknown): Place | null {
  if (!Object.hasOwn(SAMPLES, key)) return null;
  const place = isPlainObject(value) ? value['at'] : value;
  return typeof place === 'string' || Array.isArray(place) ? (place as Place) : null;
}

/** An example of what a setting's place reads, of several places the first; null: no place, or an expression. */
export function exampleOf(key: string, value: unknown, profile: ServiceProfile): PlaceExample | null {
  const place = [placeOfSetting(key, value) ?? []].flat()[0];
  if (place === undefined || expressionOf(place) !== null) return null;
  const sample = SAMPLES[key]?.(profile) ?? '…';
  const said = typeof sample === 'object' ? JSON.stringify(sample) : String(sample);
  if (place === 'text') return { kind: 'text', text: said };
  if (place.startsWith('header:')) {
    const name = place.slice('header:'.length).trim();
    const link = name.toLowerCase() === 'link' && key === 'merchants.nextLink';
    return { kind: 'header', text: `${name}: ${link ? `<${said}>; rel="next"` : said}` };
  }
  return { kind: 'json', text: JSON.stringify(jsonWith(place, sample)) };
}

/** The smallest JSON in which a value stands at a pointer. */
function jsonWith(pointer: string, value: unknown): unknown {
  const steps = pointer === '' ? [] : pointer.slice(1).split('/');
  return steps.reduceRight<unknown>(
    (below, step) => (step === '0' ? [below] : { [step.replaceAll('~1', '/').replaceAll('~0', '~')]: below }),
    value,
  );
}
