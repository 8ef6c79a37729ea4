import { createInvoice } from '../operations/create-invoice.ts';
import { createMerchant } from '../operations/create-merchant.ts';
import { getInvoice } from '../operations/get-invoice.ts';
import { listMerchants } from '../operations/list-merchants.ts';
import type { Operation } from '../operations/operation.ts';
import { registerWebhook } from '../operations/register-webhook.ts';

/** One operation of the published interface and the address it is called under. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** A segment in braces is the path's parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly run: Operation;
}

/** The five operations of the published interface, and no others. */
export const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/invoices', operationId: 'createInvoice', run: createInvoice },
  { method: 'GET', path: '/v1/invoices/{id}', operationId: 'getInvoice', run: getInvoice },
  { method: 'POST', path: '/v1/merchants', operationId: 'createMerchant', run: createMerchant },
  { method: 'GET', path: '/v1/merchants', operationId: 'listMerchants', run: listMerchants },
  { method: 'POST', path: '/v1/webhooks', operationId: 'registerWebhook', run: registerWebhook },
];

/** The operation that a request asks for, or why there is none. */
export type Found =
  | { readonly kind: 'found'; readonly route: Route; readonly id: string }
  | { readonly kind: 'wrong-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'nothing' };

const ONE_INVOICE = /^\/v1\/invoices\/([^/]+)$/;

/** The operation that a request asks for. */
export function findRoute(method: string, pathname: string): Found {
  const id = ONE_INVOICE.exec(pathname)?.[1];
  const path = id === undefined ? pathname : '/v1/invoices/{id}';
  const there = ROUTES.filter((route) => route.path === path);
  const route = there.find((candidate) => candidate.method === method);
  if (route !== undefined) return { kind: 'found', route, id: id ?? '' };
  return there.length === 0
    ? { kind: 'nothing' }
    : { kind: 'wrong-method', allowed: there.map((candidate) => candidate.method) };
}
