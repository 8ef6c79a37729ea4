import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKeys } from '../api-keys.ts';
import { applicationOf } from '../application.ts';
import { readBooksOf } from '../books.ts';
import { reasonOf } from '../sandbox-log.ts';
import type { Asked, Dialect } from '../dialect/dialect.ts';
import type { Call, Services } from '../operations/operation.ts';
import { drip, errorAnswer, jsonAnswer, outageAnswer, send } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Outage } from './outage.ts';
import type { RateLimit } from './rate-limit.ts';
import { readCall } from './read-call.ts';
import type { Route } from './routes.ts';

export interface HandlerOptions {
  readonly services: Services;
  readonly keys: ApiKeys;
  readonly outage: Outage;
  readonly rateLimit: RateLimit;
  readonly dialect: Dialect;
}

/** Answers one HTTP request; an error inside is logged and answered with 500. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const ANYWHERE = 'http://sandbox.invalid';

/** `lost`: the connection is cut and nothing is answered. */
type Result =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly subject: string }
  | { readonly kind: 'lost' };

/** What was learnt of a request before it was answered. */
type Learnt = { -readonly [Key in 'route' | 'call']: Asked[Key] };

/** Answers one request: the sandbox's own pages first, then the published interface with its faults. */
export function createRequestHandler({ services, keys, outage, rateLimit, dialect }: HandlerOptions): RequestHandler {
  const { context } = services;
  const { chance, faults } = context;

  async function answerTo(request: IncomingMessage): Promise<Result> {
    const url = new URL(request.url ?? '/', ANYWHERE);
    if (url.pathname === '/_sandbox/health') return plain(jsonAnswer(200, '{"status":"ok"}'));
    if (url.pathname === '/_sandbox/books') return plain(booksAnswer(services, keys(request.headers.authorization)));
    const learnt: Learnt = { route: null, call: null };
    const result = await operate(request, url, learnt);
    if (result.kind === 'lost') return result;
    const asked = { ...learnt, url, host: request.headers.host ?? url.host };
    return { ...result, answer: dialect.write(result.answer, asked) };
  }

  async function operate(request: IncomingMessage, url: URL, learnt: Learnt): Promise<Result> {
    const found = dialect.findRoute(request.method ?? '', url);
    if (found.kind === 'found') learnt.route = found.route;
    const applicationId = keys(request.headers.authorization);
    if (outage.isOn()) return plain(outageAnswer(faults.retryAfterSeconds));
    if (applicationId === null) return plain(unauthorized());
    if (rateLimit.isOver()) return plain(tooMany(faults.retryAfterSeconds));
    if (found.kind === 'nothing') return plain(errorAnswer(404, 'route_not_found', 'There is no such operation.'));
    if (found.kind === 'wrong-method') return plain(wrongMethod(found.allowed));
    const application = applicationOf(context.applications, applicationId);
    const { route, id, query } = found;
    const read = await readCall(request, { application, route, id, query }, dialect);
    if (read.kind === 'aborted') return { kind: 'lost' };
    if (read.kind === 'refused') return plain(read.answer);
    learnt.call = read.call;
    return runWithFaults(route, read.call);
  }

  async function runWithFaults(route: Route, call: Call): Promise<Result> {
    const { application, idempotencyKey, id, body } = call;
    const subject = `${application.id} ${route.operationId} ${idempotencyKey ?? ''} ${id} ${body.sha256}`;
    const creates = route.method === 'POST' && route.operationId !== 'registerWebhook';
    if (chance.decideAgain('status429', subject)) return plain(tooMany(faults.retryAfterSeconds));
    if (creates && chance.decideAgain('lostBeforeCreate', subject)) return { kind: 'lost' };
    const answer = await route.run(services, call);
    if (creates && answer.status === 201 && chance.decideAgain('lostAfterCreate', subject)) return { kind: 'lost' };
    return { kind: 'answer', answer, subject };
  }

  return async (request, response) => {
    const result = await answerTo(request).catch((error: unknown) => {
      context.log.error('A request could not be answered.', { method: request.method, reason: reasonOf(error) });
      return plain(errorAnswer(500, 'internal_error', 'The sandbox failed. Its log says why.'));
    });
    if (result.kind === 'lost') {
      request.socket.destroy();
      return;
    }
    if (result.subject !== '' && chance.decideAgain('slowDrip', result.subject)) {
      await drip(response, result.answer, faults.slowDripMs);
      return;
    }
    send(response, result.answer);
  };
}

function plain(answer: Answer): Result {
  return { kind: 'answer', answer, subject: '' };
}

function booksAnswer({ context }: Services, applicationId: string | null): Answer {
  if (applicationId === null) return unauthorized();
  return jsonAnswer(200, JSON.stringify(readBooksOf(context.applications, applicationId)));
}

function unauthorized(): Answer {
  const message = 'Authorization: expected Bearer and an API key of this sandbox.';
  return errorAnswer(401, 'api_key_refused', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

function wrongMethod(allowed: readonly string[]): Answer {
  const Allow = allowed.join(', ');
  return errorAnswer(405, 'method_not_allowed', `This address takes ${Allow}.`, { headers: { Allow } });
}

function tooMany(retryAfterSeconds: number): Answer {
  const headers = { 'Retry-After': String(retryAfterSeconds) };
  return errorAnswer(429, 'rate_limited', 'Too many requests. Wait as long as Retry-After says.', { headers });
}
