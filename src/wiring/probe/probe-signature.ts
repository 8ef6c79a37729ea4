import type { Document } from '../../service-profile/place.ts';
import { guessed, missing, seen, type Recognised } from '../../service-profile/recognise/finding.ts';
import { secretPlaces } from '../../service-profile/recognise/webhook-secret.ts';
import { fittingSchemes, type FittingScheme } from '../../webhooks/signature/fitting-scheme.ts';
import { headerLines } from '../../webhooks/header-lines.ts';
import { createSignatureCheck } from '../../webhooks/signature/signature-check.ts';
import { DEFAULT_PROFILE } from '../../service-profile/default-profile.ts';
import type { KeptDelivery } from './temporary-receiver.ts';

/** What may show how deliveries are signed. */
export interface SignedDeliveries {
  readonly deliveries: readonly KeptDelivery[];
  /** The answer to the registration; null: none came, or somebody registered by hand. */
  readonly registered: Document | null;
  /** The profile lets Lote register. */
  readonly registers: boolean;
  /** Of WEBHOOK_SECRET. */
  readonly secrets: readonly string[];
  /** As it was registered; null: it is not known. */
  readonly url: string | null;
}

/** What was recognised, and the deliveries that prove where they come from. */
export interface ProbedSignature {
  readonly recognised: Recognised;
  readonly proved: readonly KeptDelivery[];
  /** The secret that fits; null: none does. */
  readonly secret: string | null;
}

const AMBIGUOUS = 'no signature held a character by which base64 and base64url differ: see what the service says';

interface Secret {
  /** Null: WEBHOOK_SECRET. */
  readonly place: string | null;
  readonly secret: string;
}

/** Tries the known ways of signing with every secret that there may be; the one that fits most deliveries counts. */
export function probeSignature(given: SignedDeliveries): ProbedSignature {
  const { deliveries, registered, secrets } = given;
  const places = registered === null ? [] : secretPlaces(registered);
  const own = secrets.map((secret) => ({ place: null, secret }));
  for (const candidate of [...places, ...own]) {
    const [best] = deliveries
      .flatMap((one) => schemesOf(one, candidate.secret, given.url))
      .map((scheme) => ({
        scheme,
        proved: deliveries.filter((one) => isProved(one, scheme, candidate.secret, given.url)),
      }))
      .toSorted((one, other) => other.proved.length - one.proved.length);
    if (best === undefined || best.proved.length === 0) continue;
    const { scheme, proved } = best;
    const ambiguous = isAmbiguous(scheme, proved);
    return {
      recognised: [...settingsOf(scheme, ambiguous), ...secretOf(candidate, scheme)],
      ...{ proved, secret: candidate.secret },
    };
  }
  return {
    recognised: [...withoutScheme(given, places.length > 0), ...likelySecret(places[0])],
    proved: [],
    secret: null,
  };
}

function schemesOf({ rawHeaders, body, pathSecret }: KeptDelivery, secret: string, url: string | null) {
  const delivery = { headers: rawHeaders, body, url, ...(pathSecret !== undefined && { pathSecret }) };
  return fittingSchemes(delivery, secret);
}

function isProved(delivery: KeptDelivery, { profile }: FittingScheme, secret: string, url: string | null): boolean {
  const { rawHeaders, body, pathSecret } = delivery;
  const shape = { ...DEFAULT_PROFILE.signature, ...profile };
  const check = createSignatureCheck({ shape, url: () => url, log: { warn: () => undefined } });
  const head = { rawHeaders, now: Date.now(), ...(pathSecret !== undefined && { pathSecret }) };
  return check.verify(head, [secret], body).ok;
}

/** No signature holds a character by which the two alphabets of base64 differ: the next one may. */
function isAmbiguous(
  { profile: { encoding, header = '', prefix = '' } }: FittingScheme,
  proved: readonly KeptDelivery[],
): boolean {
  if (encoding !== 'base64' && encoding !== 'base64url') return false;
  const texts = proved.flatMap(({ rawHeaders }) => headerLines(rawHeaders, header));
  return texts.every((text) => !/[+/=_-]/.test(text.slice(text.lastIndexOf(prefix) + prefix.length)));
}

function settingsOf({ profile, shown }: FittingScheme, ambiguous: boolean): Recognised {
  return Object.entries(profile).flatMap(([key, value]) =>
    key === 'secret' && typeof value === 'object' && value !== null
      ? Object.entries(value).map(([below, one]) => seen(`signature.secret.${below}`, one, shown))
      : [
          ambiguous && key === 'encoding'
            ? guessed('signature.encoding', value, AMBIGUOUS)
            : seen(`signature.${key}`, value, shown),
        ],
  );
}

function secretOf({ place }: Secret, { shown }: FittingScheme): Recognised {
  return place === null ? [] : [seen('webhook.secret', place, `the secret there fits a delivery: ${shown}`)];
}

function likelySecret(place: { readonly place: string } | undefined): Recognised {
  return place === undefined ? [] : [guessed('webhook.secret', place.place, 'by the name of the key')];
}

function withoutScheme(
  { deliveries, registered, registers, secrets, url }: SignedDeliveries,
  hasSecret: boolean,
): Recognised {
  const key = 'signature.kind';
  if (url === null) return [missing(key, 'no receiver was registered: probe with --webhook-url')];
  if (registers && (registered?.status ?? 0) >= 300)
    return [
      missing('webhook.secret', `the registration was answered with ${registered?.status}`),
      missing(key, 'no receiver was registered'),
    ];
  if (deliveries.length === 0) return [missing(key, 'no delivery came')];
  if (!hasSecret && secrets.length === 0)
    return [
      missing('webhook.secret', 'the registration brought no secret: set WEBHOOK_SECRET'),
      missing(key, 'no secret is known'),
    ];
  return [
    missing(key, 'no known way of signing fits a delivery and a secret; see docs/service-profile.md, Signatures'),
  ];
}
