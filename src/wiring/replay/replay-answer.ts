import type { ReplayedPlace, ReplayRow } from '../../domain/ports/replay.ts';
import type { CreateAnswer, StatusAnswer } from '../../domain/ports/invoicing-service.ts';
import { answerExpressions, invoiceShape, merchantShape } from '../../service/answer-shapes.ts';
import { classify } from '../../service/classify.ts';
import { documentOf, type ExchangeResult } from '../../service/exchange-result.ts';
import { readRegistration } from '../../service/read-registration.ts';
import { readStatus } from '../../service/read-status.ts';
import { look, type CreationShape, type Seen } from '../../service/seen-answer.ts';
import { readPlace } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { wordAt } from '../../service-profile/word.ts';
import { createOperationFinder } from '../recordings/operation-of.ts';
import type { ExchangeRecording } from '../recordings/recording.ts';
import { NO_FACTS, placeFound, type ReadRecord, type RecordFacts } from './read-record.ts';
import { recordedEnd } from './recorded-end.ts';

/** Reads the recorded answers of one request of the profile, each alone. */
export type AnswerReplay = (recording: ExchangeRecording) => Promise<ReadRecord>;

type Said = Pick<ReplayRow, 'understood' | 'says' | 'places'> & { readonly facts?: RecordFacts };

/** Makes the readers of answers of a profile; the list of merchants is read elsewhere, for it takes several answers. */
export function createAnswerReplays(
  profile: ServiceProfile,
): Readonly<Record<'create-invoice' | 'get-invoice' | 'create-merchant' | 'register-webhook', AnswerReplay>> {
  const evaluate = answerExpressions(profile);
  const operationOf = createOperationFinder(profile);
  const invoices = invoiceShape(profile);
  const merchants = merchantShape(profile);

  function reading(read: (end: ExchangeResult, recording: ExchangeRecording) => Said): AnswerReplay {
    return async (recording) => {
      const end = recordedEnd(recording);
      const { facts = NO_FACTS, ...said } = read(evaluate === null ? end : await evaluate(end), recording);
      const { name: record, at, operation, answer } = recording;
      return { row: { record, at, operation, status: answer.status, ...said }, facts };
    };
  }

  return {
    'create-invoice': reading((end) => created(end, { shape: invoices, setting: 'invoice.id' })),
    'create-merchant': reading((end) => created(end, { shape: merchants, setting: 'merchants.createdId' })),
    'get-invoice': reading((end, { request: { method, path } }) => {
      const serviceId = operationOf(method, path)?.id ?? lastStep(path);
      return shown(end, { serviceId, profile, shape: invoices });
    }),
    'register-webhook': reading((end) => registered(end, profile)),
  };
}

function created(
  end: ExchangeResult,
  { shape, setting }: { readonly shape: CreationShape; readonly setting: string },
): Said {
  const seen = look(end, shape);
  const answer = classify(end, shape);
  const id = placeFound(setting, shape.id, seen.existingId ?? seen.serviceId);
  if (answer.kind === 'created')
    return { understood: true, says: `created ${answer.serviceId}`, places: [{ ...id, value: answer.serviceId }] };
  const places = [...(seen.success ? [id] : []), ...errorPlaces(seen, shape)];
  return { ...withoutId(answer, seen, setting), places };
}

/** What an answer without a document says. */
function withoutId(
  answer: Exclude<CreateAnswer, { kind: 'created' }>,
  seen: Seen,
  setting: string,
): Pick<Said, 'understood' | 'says'> {
  switch (answer.kind) {
    case 'refused':
      return { understood: true, says: `refused for good: ${reasonOf(answer.reason)}` };
    case 'key-mismatch':
      return { understood: true, says: 'the key is known with other bytes' };
    case 'not-now':
      return { understood: true, says: `not now: ${reasonOf(answer.reason)}` };
    case 'access-denied':
      return { understood: true, says: `nobody is let in: ${reasonOf(answer.reason)}` };
    case 'lost': {
      const missing = missingFrom(answer.reason.code, seen, setting);
      return missing === null
        ? { understood: true, says: `nobody knows what became of it: ${reasonOf(answer.reason)}` }
        : { understood: false, says: `${answer.reason.message}; see ${missing} in the profile` };
    }
    default:
      return { understood: true, says: 'nothing was sent' };
  }
}

/** The settings that do not fit an answer which proves nothing; null: no setting could make more of it. */
function missingFrom(code: string, seen: Seen, setting: string): string | null {
  if (code === 'answer-id-unusable' || code === 'answer-without-id') return `${setting} and its idPrefix`;
  if (code === 'answer-unreadable') return setting;
  if (code === 'answer-not-a-success') return 'answers.success and answers.status';
  if (code === 'answer-contradictory') return `${setting} and answers.rules`;
  if (/^http-\d+-unreadable$/.test(code)) return 'error.code and error.message';
  if (seen.status === 409 && seen.meaning === null) return 'idempotency.mismatchCodes and answers.rules';
  return null;
}

function shown(
  end: ExchangeResult,
  asked: { readonly serviceId: string; readonly profile: ServiceProfile; readonly shape: CreationShape },
): Said {
  const { shape, serviceId } = asked;
  const { invoice } = asked.profile;
  const seen = look(end, shape);
  const answer = readStatus(end, asked);
  if (!seen.success) {
    const why = classify(end, shape);
    const places = errorPlaces(seen, shape);
    return why.kind === 'created'
      ? { understood: false, says: 'an id without a success; see answers.success in the profile', places }
      : { ...withoutId(why, seen, 'invoice.id'), places };
  }
  const document = documentOf(end);
  const word = wordAt(readPlace(document, invoice.status));
  const places: readonly ReplayedPlace[] = [
    placeFound('invoice.id', invoice.id, seen.serviceId),
    placeFound('invoice.status', invoice.status, word),
    ...(statusOf(answer) === 'failed'
      ? [
          placeFound('invoice.reasonCode', invoice.reasonCode, readPlace(document, invoice.reasonCode)),
          placeFound('invoice.reasonMessage', invoice.reasonMessage, readPlace(document, invoice.reasonMessage)),
        ]
      : []),
  ];
  return { ...statusSaid(answer, { serviceId, word, hasId: seen.hasId }), places };
}

function statusSaid(
  answer: StatusAnswer,
  { serviceId, word, hasId }: { readonly serviceId: string; readonly word: string | null; readonly hasId: boolean },
): Omit<Said, 'places'> {
  const status = statusOf(answer);
  if (status === 'issued' || status === 'failed') {
    const reason = answer.reason === null ? '' : `: ${reasonOf(answer.reason)}`;
    return {
      understood: true,
      says: `${serviceId} is ${status}${reason}`,
      facts: { serviceId, word, verdict: status },
    };
  }
  if (status === 'processing') {
    const says = `${serviceId} is neither issued nor failed: ${word ?? ''}`;
    return { understood: true, says, facts: { serviceId, word, verdict: 'open' } };
  }
  const setting = word === null && hasId ? 'invoice.status' : 'invoice.id and its idPrefix';
  return { understood: false, says: `${answer.reason?.message ?? 'No status'}; see ${setting} in the profile` };
}

function statusOf(answer: StatusAnswer): 'issued' | 'failed' | 'processing' | 'unreadable' {
  return answer.kind === 'status' ? answer.status : 'unreadable';
}

function registered(end: ExchangeResult, profile: ServiceProfile): Said {
  const { secret } = profile.webhook;
  const answer = readRegistration(end, profile);
  if (answer.kind !== 'registered')
    return { understood: answer.kind === 'refused', says: `not registered: ${reasonOf(answer.reason)}`, places: [] };
  const found = answer.secret === null ? null : `a text of ${answer.secret.length} characters`;
  const places = [placeFound('webhook.secret', secret, found)];
  // Where the address holds the secret, or somebody gave it by hand, the answer needs none.
  const needed = profile.signature.kind === 'hmac' || profile.signature.kind === 'token';
  if (found !== null || !needed)
    return { understood: true, says: `registered${found === null ? '' : ', with a secret'}`, places };
  return {
    understood: false,
    says: `registered, and no secret at ${places[0]?.place ?? ''}; see webhook.secret in the profile, or set WEBHOOK_SECRET`,
    places,
  };
}

function errorPlaces(seen: Seen, shape: CreationShape): readonly ReplayedPlace[] {
  if (seen.success) return [];
  return [
    placeFound('error.code', shape.errorCode, seen.errorCode),
    placeFound('error.message', shape.errorMessage, seen.errorMessage),
  ];
}

function reasonOf({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${code} (${message})`;
}

function lastStep(path: string): string {
  return /([^/?]+)\/?(?:\?.*)?$/.exec(path)?.[1] ?? '';
}
