import { setImmediate as nextTurn } from 'node:timers/promises';
import { DELIVERIES_UNPROVEN } from '../../domain/profile-misfit.ts';
import { fittingSchemes, type FittingScheme } from '../signature/fitting-scheme.ts';
import { possibleSignatures, signingHeaders } from '../signature/possible-signatures.ts';
import type { SignatureRefusal } from '../signature/refusal.ts';
import type { SignatureShape } from '../signature/request-head.ts';
import type { RefusedSample } from './refused-samples.ts';

/** What a round of refusals has shown, and what is known to judge it by. */
export interface RefusalEvidence {
  readonly samples: readonly RefusedSample[];
  readonly secrets: readonly string[];
  readonly shape: SignatureShape;
  readonly url: string | null;
  /** What every invoice id begins with. */
  readonly idPrefix: string;
  /** Refusals since a delivery fitted, by reason. */
  readonly refused: ReadonlyMap<SignatureRefusal, number>;
  /** No delivery has fitted since this process started. */
  readonly neverFitted: boolean;
  /** How many of these are ids of invoices that the ledger knows. */
  readonly knownIds: (ids: readonly string[]) => Promise<number>;
}

/** Code of what deliveries of the service are refused for; proved by the secret, or by ids that only the service knows. */
export const DELIVERIES_REFUSED = 'deliveries-refused';

const MOST_SECRETS = 4;
const MOST_IDS = 40;
/** One id may have been seen by anybody; of two that nobody else can name, both came from the service. */
const IDS_THAT_PROVE = 2;
/** Fewer are a stray scanner. */
const UNPROVEN_FROM = 10;
/** Other names of headers are not repeated to anybody. */
const SIGNING = /^(?=.{1,40}$).*(?:sign|hmac|digest|hash|auth|token)/i;
const ID = /[A-Za-z0-9][A-Za-z0-9_-]{3,250}/g;
const CHANGEABLE = [
  'kind',
  'header',
  'algorithm',
  'encoding',
  'prefix',
  'separator',
  'signed',
  'timestamp',
  'secret',
] as const;

/** What to tell of refused deliveries: a code, and what it would take; null: nothing yet. */
export async function refusalAdvice(
  evidence: RefusalEvidence,
): Promise<{ readonly code: string; readonly message: string } | null> {
  const times = [...evidence.refused.values()].reduce((sum, count) => sum + count, 0);
  const head = times === 1 ? 'The only delivery was refused: ' : `${times} of ${times} deliveries refused: `;
  const fit = await commonScheme(evidence);
  const changes = fit === null ? {} : changesOf(fit.profile, evidence.shape);
  if (fit !== null && Object.keys(changes).length > 0) {
    const next = `Set in the service profile: "signature": ${JSON.stringify(changes)}.`;
    return { code: DELIVERIES_REFUSED, message: `${head}${fit.shown}. ${next}` };
  }
  // A copy of a delivery that fitted proves no more than that it was copied.
  const proven = fit === null && evidence.neverFitted && (await fromService(evidence));
  if (!proven && times < UNPROVEN_FROM) return null;
  return {
    code: proven ? DELIVERIES_REFUSED : DELIVERIES_UNPROVEN,
    message: `${head}${reasonOf(evidence, proven)}${proven ? '' : ' Whether they came from the service is not known.'}`,
  };
}

/** The scheme that fits most of the samples. */
async function commonScheme({ samples, secrets, url }: RefusalEvidence): Promise<FittingScheme | null> {
  const votes = new Map<string, { readonly scheme: FittingScheme; count: number }>();
  for (const { headers, body, pathSecret } of samples) {
    const delivery = { headers, body, url, ...(pathSecret !== undefined && { pathSecret }) };
    // Requests are answered meanwhile.
    // oxlint-disable-next-line no-await-in-loop
    await nextTurn();
    for (const scheme of secrets.slice(0, MOST_SECRETS).flatMap((secret) => fittingSchemes(delivery, secret))) {
      const key = JSON.stringify(scheme.profile);
      const known = votes.get(key) ?? { scheme, count: 0 };
      known.count += 1;
      votes.set(key, known);
    }
  }
  const [best] = [...votes.values()].sort((a, b) => b.count - a.count);
  return best?.scheme ?? null;
}

function changesOf(found: Partial<SignatureShape>, shape: SignatureShape): Partial<SignatureShape> {
  const plain = (key: string, value: unknown): string =>
    key === 'header' && typeof value === 'string' ? value.toLowerCase() : JSON.stringify(value);
  const changed = CHANGEABLE.filter(
    (key) => found[key] !== undefined && plain(key, found[key]) !== plain(key, shape[key]),
  );
  return Object.fromEntries(changed.map((key) => [key, found[key]]));
}

/** Bodies are not parsed: their signature fits nothing. */
async function fromService({ samples, idPrefix, knownIds }: RefusalEvidence): Promise<boolean> {
  const ids = new Set<string>();
  for (const { body } of samples)
    for (const [id] of Buffer.from(body).toString('latin1').matchAll(ID))
      if (ids.size < MOST_IDS && id.startsWith(idPrefix) && /\d/.test(id)) ids.add(id);
  return ids.size >= IDS_THAT_PROVE && (await knownIds([...ids])) >= IDS_THAT_PROVE;
}

/** Names of headers only where the deliveries are the service's: a stranger would choose the words. */
function reasonOf({ refused, shape, samples }: RefusalEvidence, proven: boolean): string {
  const [why = 'signature-wrong'] = [...refused].sort(([, a], [, b]) => b - a)[0] ?? [];
  const headers = samples.flatMap((sample) => signingHeaders(sample.headers)).filter(({ name }) => SIGNING.test(name));
  const found = proven ? possibleSignatures(headers) : [];
  const own = found.find(({ header }) => header.toLowerCase() === shape.header.toLowerCase()) ?? found[0];
  const seen = own === undefined ? '' : `; ${own.header} holds ${own.encoding} of the length of ${own.algorithm}`;
  return WORDS[why](shape, seen);
}

const SECRET_NEXT = 'Look at WEBHOOK_SECRET, or at webhook.secret of the service profile.';

const WORDS: Readonly<Record<SignatureRefusal, (shape: SignatureShape, seen: string) => string>> = {
  'no-secret': () => `no usable secret is known. ${SECRET_NEXT}`,
  'signature-missing': ({ kind, header }, seen) =>
    kind === 'hmac' || kind === 'token'
      ? `none has the header ${header}${seen}. Look at signature.header of the service profile.`
      : `none shows the secret. Look at signature.kind of the service profile.`,
  'signature-repeated': ({ header }) => `the header ${header} stands there several times (signature.separator).`,
  'signature-malformed': ({ header, encoding, algorithm, prefix }, seen) =>
    `${header} does not hold ${encoding} of ${algorithm}${prefix === '' ? '' : ` after "${prefix}"`}${seen}. Look at signature.encoding, algorithm, prefix and separator of the service profile.`,
  'signature-wrong': ({ signed }) => `the secret does not fit ${signed}, nor any other known scheme. ${SECRET_NEXT}`,
  'signed-header-missing': ({ signed }) => `a header that signature.signed names is missing: ${signed}.`,
  'signed-header-repeated': ({ signed }) =>
    `a header that signature.signed names stands there several times: ${signed}.`,
  'signed-url-unknown': () => 'signature.signed holds {url}, and WEBHOOK_URL is not set.',
  'timestamp-unreadable': ({ timestamp }) =>
    `no time of signing can be read at ${timestamp ?? 'signature.timestamp'} (signature.timestamp).`,
  'timestamp-outside-tolerance': ({ toleranceSeconds }) =>
    `the time of signing is more than ${toleranceSeconds} s away (signature.toleranceSeconds). Compare this machine's clock with the service's.`,
};
