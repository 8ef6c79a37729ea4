import { errorAnswer } from '../http/answer.ts';
import { findRoute } from '../http/routes.ts';
import { SIGNATURE_HEADER, signatureOf } from '../webhooks/signature.ts';
import type { Dialect } from './dialect.ts';

/** The published interface, with the sandbox's own decisions about what it leaves open. */
export const PUBLISHED_DIALECT: Dialect = {
  findRoute(method, url) {
    const found = findRoute(method, url.pathname);
    return found.kind === 'found' ? { ...found, query: url.searchParams } : found;
  },
  refuseHead({ 'content-type': contentType = '' }, { method }) {
    if (method === 'GET' || /^application\/json\s*(?:;|$)/i.test(contentType)) return null;
    return errorAnswer(415, 'content_type_unsupported', 'Content-Type: expected application/json.');
  },
  readBody: (body) => ({ body }),
  write: (answer) => answer,
  newId: null,
  seal({ url, secret }, { body, forged }) {
    // A forger knows everything but the secret.
    const signature = signatureOf(body, forged ? `not ${secret}` : secret);
    return { url, body, headers: { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature } };
  },
};
