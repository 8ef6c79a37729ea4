import type { Context, MiddlewareHandler } from 'hono';
import {
  carriesToken,
  healthInOneWord,
  hostName,
  isSafe,
  LOOPBACK_NAMES,
  refuse,
  refuseForeignAddress,
  refuseForeignPage,
  TOKEN_HEADER,
  type GuardOptions,
} from '../http/guard.ts';
import { mayOperate, personReader, type SignIn } from './people.ts';

/** The options of the guard; see `GuardOptions`. */
export interface PeopleGuardOptions extends Pick<GuardOptions, 'token' | 'hosts' | 'forms' | 'ready'> {
  readonly signIn: SignIn;
  readonly roleMissing: (context: Context) => Response | Promise<Response>;
}

/** Admits a person whom a trusted proxy names, under a host name of this console, or a program with the token. A change needs `operate` and a page token. */
export function peopleGuard(options: PeopleGuardOptions): MiddlewareHandler {
  const { token, ready, signIn, roleMissing, forms } = options;
  const personOf = personReader(signIn);
  const names = new Set(
    [...LOOPBACK_NAMES, ...options.hosts, new URL(signIn.publicUrl).hostname].map((name) => name.toLowerCase()),
  );
  return async (context, next) => {
    const foreign = refuseForeignAddress(context);
    if (foreign !== null) return foreign;
    const person = personOf(context);
    // Checks a person's name first: a proxy that adds the token to every request must not turn all people into programs.
    if (person.kind === 'nobody' && carriesToken(context, token)) {
      context.set('caller', { kind: 'program' });
      return next();
    }
    if (person.kind !== 'person') return (await healthInOneWord(context, ready)) ?? refuseStranger(context, signIn);
    if (!names.has(hostName(context))) return refuseHost(context, signIn);
    context.set('caller', person);
    if (isSafe(context)) return next();
    return refuseForeignPage(context, forms) ?? (mayOperate(context) ? next() : roleMissing(context));
  };
}

function refuseStranger(context: Context, { userHeader }: SignIn): Response {
  return refuse(
    context,
    401,
    'person-unknown',
    `This console lets in people whom a trusted proxy (CONSOLE_TRUSTED_PROXIES) names in ${userHeader}, and programs with the token in ${TOKEN_HEADER}. ` +
      'Found neither: open the console at its public address, and sign in there.',
  );
}

function refuseHost(context: Context, { publicUrl }: SignIn): Response {
  const message = `The console answers people only under the name of CONSOLE_URL (${new URL(publicUrl).host}): the proxy must keep the Host header.`;
  return refuse(context, 421, 'host-unknown', message);
}
