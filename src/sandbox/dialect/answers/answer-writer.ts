import type { Answer } from '../../http/answer.ts';
import type { Asked, Dialect } from '../dialect.ts';
import type { IdForm } from '../id.ts';
import { writePage } from './merchant-page.ts';
import type { Place } from '../place.ts';
import type { SpokenProfile } from '../spoken-profile.ts';
import { put, putId, putInvoice, successDocument, successStatus } from './write-answer.ts';
import { writeExisting, writeProblem, type SpokenProblem, type WrittenAnswer } from './write-problem.ts';
import type { WrittenDocument } from '../written-document.ts';

/** How ids are written. */
export interface Forms {
  readonly invoices: IdForm;
  readonly merchants: IdForm;
}

interface Thing {
  readonly id: string | number;
  readonly address: string;
}

/** What the operations answer, as far as it goes out. */
interface OperationAnswer {
  readonly id: string;
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly secret?: string;
}

const MEANINGS: Readonly<Record<string, SpokenProblem['means']>> = {
  idempotency_mismatch: 'mismatch',
  idempotency_in_progress: 'lost',
  merchant_exists: 'lost',
  internal_error: 'lost',
  rate_limited: 'later',
  api_key_refused: 'access',
};

/** Makes the writer of answers by a profile. The page of a proxy (the fault `outage`) stays as it is. */
export function answerWriter(profile: SpokenProfile, forms: Forms): Dialect['write'] {
  return (answer, asked) => {
    if (!answer.contentType.startsWith('application/json')) return answer;
    if (answer.status >= 400) return problem(profile, answer, asked);
    return success(profile, answer, { asked, forms });
  };
}

function success(
  profile: SpokenProfile,
  answer: Answer,
  { asked, forms }: { readonly asked: Asked; readonly forms: Forms },
): Answer {
  const { operationId } = asked.route ?? {};
  const said = JSON.parse(answer.body) as OperationAnswer;
  if (operationId === 'createInvoice' || operationId === 'getInvoice') {
    const invoice = thingOf(forms.invoices.outer(said.id), addressOfInvoice(profile, forms.invoices.outer(said.id)));
    const existing =
      answer.isRepeated === true ? writeExisting(profile, { id: invoice.id, idPlace: profile.invoice.id }) : null;
    if (existing !== null) return sent(profile, existing);
    return written(profile, answer, (document) => putInvoice(document, profile, { ...said, ...invoice }));
  }
  if (operationId === 'createMerchant') {
    const id = forms.merchants.outer(said.id);
    const idPlace = profile.merchants.createdId;
    const existing = answer.isRepeated === true ? writeExisting(profile, { id, idPlace }) : null;
    if (existing !== null) return sent(profile, existing);
    const address = `${pathOf(profile.requests.createMerchant.path)}/${id}`;
    return written(profile, answer, (document) => putId(document, idPlace, thingOf(id, address)));
  }
  if (operationId === 'listMerchants') return list(profile, answer, { asked, forms });
  return written(profile, answer, (document) => putSecret(document, profile, said.secret));
}

function list(
  profile: SpokenProfile,
  answer: Answer,
  { asked: { url, host, call }, forms }: { readonly asked: Asked; readonly forms: Forms },
): Answer {
  const http = successStatus(profile, answer.status);
  const merchants = call?.application.merchantOrder ?? [];
  const document = writePage(successDocument(profile, http), profile, { merchants, url, host, ids: forms.merchants });
  if (document !== null) return sent(profile, { http, document });
  const message = 'The parameters of the query name no page of this list.';
  const refused = { code: 'query_invalid', message };
  return problemAnswer(profile, { ...refused, means: 'refused', status: 400, headers: {}, isList: true, id: '/id' });
}

function written(profile: SpokenProfile, answer: Answer, write: (document: WrittenDocument) => void): Answer {
  const http = successStatus(profile, answer.status);
  const document = successDocument(profile, http);
  write(document);
  return sent(profile, { http, document });
}

/** With a secret in the address there is none to give. */
function putSecret(document: WrittenDocument, { webhook, signature }: SpokenProfile, secret: string | undefined): void {
  if (secret !== undefined && (signature.kind === 'hmac' || signature.kind === 'token'))
    put(document, webhook.secret, secret);
}

function problem(profile: SpokenProfile, answer: Answer, { route }: Asked): Answer {
  const { error } = JSON.parse(answer.body) as { readonly error: { readonly code: string; readonly message: string } };
  const { operationId } = route ?? {};
  return problemAnswer(profile, {
    means: MEANINGS[error.code] ?? 'refused',
    status: answer.status,
    code: error.code,
    message: error.message,
    headers: answer.headers,
    isList: operationId === 'listMerchants',
    id: idPlaceOf(profile, operationId),
  });
}

function problemAnswer(profile: SpokenProfile, said: SpokenProblem): Answer {
  const found = writeProblem(profile, said);
  if (found !== null) return sent(profile, found);
  return { status: 500, body: '', contentType: 'text/plain; charset=utf-8', headers: {} };
}

function idPlaceOf({ invoice, merchants }: SpokenProfile, operationId: string | undefined): Place {
  return operationId === 'createMerchant' ? merchants.createdId : invoice.id;
}

function sent({ requests }: SpokenProfile, { http, document }: WrittenAnswer): Answer {
  const contentType = document.isText ? 'text/plain; charset=utf-8' : requests.contentType;
  return { status: http, body: document.bytes, contentType, headers: document.headers };
}

function thingOf(id: string | number, address: string): Thing {
  return { id, address };
}

/** Of an address the last step is read as the id, so that a path which ends otherwise will not do. */
function addressOfInvoice({ requests }: SpokenProfile, id: string | number): string {
  const { path } = requests.getInvoice;
  if (path.endsWith('/{id}') && !path.includes('?')) return path.replaceAll('{id}', String(id));
  return `${pathOf(requests.createInvoice.path)}/${id}`;
}

function pathOf(path: string): string {
  return path.replace(/\?.*$/, '').replace(/\/+$/, '');
}
