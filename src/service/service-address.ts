import { LoteError } from '../domain/errors.ts';

/** Where requests go and what each of them carries. */
export interface ServiceAddress {
  /** As the ledger keys it: no trailing slash. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly pathPrefix: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Visible ASCII: anything else would break the header, or smuggle another one in. */
const KEY = /^[\x21-\x7e]+$/;
const TEST_KEY = 'sk_test_';
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks the address and the key once, before anything is sent.
 * @throws LoteError `configuration-invalid`; the key itself is never in the message.
 */
export function serviceAddress(options: {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly application: string;
  /** From the service profile; left out: no. */
  readonly allowPlainHttp?: boolean;
}): ServiceAddress {
  const url = URL.canParse(options.baseUrl) ? new URL(options.baseUrl) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw invalid(options, 'INVOICING_BASE_URL must be an http or https address');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw invalid(options, 'INVOICING_BASE_URL must hold no user, password, query or fragment');
  }
  if (!KEY.test(options.apiKey)) {
    throw invalid(
      options,
      `INVOICING_API_KEY must be visible ASCII characters only, found ${options.apiKey === '' ? 'nothing' : 'something else'}`,
    );
  }
  const encrypted = url.protocol === 'https:' || LOOPBACK.test(url.hostname);
  if (!encrypted && !options.apiKey.startsWith(TEST_KEY) && options.allowPlainHttp !== true) {
    throw invalid(
      options,
      `a key that is not a test key (${TEST_KEY}…) must go over https, or stay on this machine, found INVOICING_BASE_URL with http and the host ` +
        `${JSON.stringify(url.hostname)}. Nothing was sent. Use the https address; if the way to that host is protected otherwise, set ` +
        '"allowPlainHttp": true in the file of SERVICE_PROFILE',
    );
  }
  const pathPrefix = url.pathname.replace(/\/+$/, '');
  return {
    baseUrl: url.origin + pathPrefix,
    origin: url.origin,
    pathPrefix,
    headers: {
      authorization: `Bearer ${options.apiKey}`,
      accept: 'application/json',
      // A compressed answer could unfold to any size; what comes compressed all the same is not read.
      'accept-encoding': 'identity',
      'user-agent': 'lote',
    },
  };
}

function invalid(options: { readonly application: string }, problem: string): LoteError {
  return new LoteError(
    'configuration-invalid',
    `Connecting application ${JSON.stringify(options.application)} to the invoicing service: ${problem}.`,
  );
}
