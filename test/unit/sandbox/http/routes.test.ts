import { describe, expect, it } from 'vitest';
import { checkedFaults } from '../../../../src/sandbox/faults.ts';
import { createOutage } from '../../../../src/sandbox/http/outage.ts';
import { findRoute } from '../../../../src/sandbox/http/routes.ts';

describe('findRoute', () => {
  it.each([
    ['POST', '/v1/invoices', 'createInvoice', ''],
    ['GET', '/v1/invoices/inv_1', 'getInvoice', 'inv_1'],
    ['POST', '/v1/merchants', 'createMerchant', ''],
    ['GET', '/v1/merchants', 'listMerchants', ''],
    ['POST', '/v1/webhooks', 'registerWebhook', ''],
  ])('%s %s is %s', (method, path, operationId, id) => {
    expect(findRoute(method, path)).toMatchObject({ kind: 'found', route: { operationId }, id });
  });

  it.each(['/v1/invoices/a/b', '/v1/invoices/', '/V1/invoices', '/v1/merchants/mrc_1', ''])(
    'finds nothing at %j',
    (path) => {
      expect(findRoute('GET', path)).toEqual({ kind: 'nothing' });
    },
  );

  it('says which methods an address has', () => {
    expect(findRoute('PATCH', '/v1/merchants')).toEqual({ kind: 'wrong-method', allowed: ['POST', 'GET'] });
    expect(findRoute('get', '/v1/merchants')).toEqual({ kind: 'wrong-method', allowed: ['POST', 'GET'] });
  });
});

describe('an outage', () => {
  it('is never on when none is asked for', () => {
    const outage = createOutage(checkedFaults().outage, () => 0);

    expect([1, 2, 3].map(() => outage.isOn())).toEqual([false, false, false]);
  });

  it('counts from its first request, not from the start of the sandbox', () => {
    let now = 1_000_000;
    const outage = createOutage({ afterRequests: 1, lastsMs: 100 }, () => now);
    expect(outage.isOn()).toBe(false);
    now += 5000;

    const began = outage.isOn();
    now += 99;
    const still = outage.isOn();
    now += 1;

    expect([began, still, outage.isOn(), outage.isOn()]).toEqual([true, true, false, false]);
  });
});
