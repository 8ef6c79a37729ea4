import { describe, expect, it } from 'vitest';
import { deliveryAddress, withoutAddressSecret } from '../../../../src/app/receiver/webhook-address.ts';

const URL = 'https://lote.example/hooks';

describe('deliveryAddress', () => {
  it.each(['hmac', 'token'] as const)('is the address as it is for %s, with a secret and without', (kind) => {
    expect([deliveryAddress(URL, kind, 's'), deliveryAddress(URL, kind, null)]).toEqual([URL, URL]);
  });

  it.each([
    ['path', URL, 'abc', 'https://lote.example/hooks/abc'],
    ['path', `${URL}/?a=1`, 'a/b c', 'https://lote.example/hooks/a%2Fb%20c?a=1'],
    ['basic', URL, 'abc', 'https://lote:abc@lote.example/hooks'],
    ['basic', URL, 'a@b:c%', 'https://lote:a%40b%3Ac%25@lote.example/hooks'],
  ] as const)('holds the secret for %s at %s', (kind, url, secret, address) => {
    expect(deliveryAddress(url, kind, secret)).toBe(address);
  });

  it.each(['path', 'basic'] as const)('is none for %s without a secret', (kind) => {
    expect(deliveryAddress(URL, kind, null)).toBeNull();
  });
});

describe('withoutAddressSecret', () => {
  it.each([
    ['http-422', 'http-422'],
    ['bad-hooks', 'bad-hooks'],
    ['bad-sec-ret-1', 'not-shown'],
    ['SEC_RET-1', 'not-shown'],
  ])('shows the code %s as %s', (code, shown) => {
    expect(withoutAddressSecret(code, `${URL}/sec_ret-1`, URL)).toBe(shown);
    expect(withoutAddressSecret(code, 'https://lote:sec_ret-1@lote.example/hooks', URL)).toBe(shown);
  });
});
