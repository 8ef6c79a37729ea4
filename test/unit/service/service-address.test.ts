import { describe, expect, it } from 'vitest';
import { serviceAddress } from '../../../src/service/service-address.ts';

const KEY = 'sk_test_very-secret-1234';

describe('serviceAddress', () => {
  it.each([
    ['https://api.example.org', 'https://api.example.org', ''],
    ['https://api.example.org/', 'https://api.example.org', ''],
    ['https://api.example.org/tax//', 'https://api.example.org/tax', '/tax'],
    ['http://127.0.0.1:8092/tax/', 'http://127.0.0.1:8092/tax', '/tax'],
    ['HTTPS://API.example.org:443', 'https://api.example.org', ''],
  ])('reads %s', (baseUrl, expected, pathPrefix) => {
    expect(serviceAddress({ baseUrl, apiKey: KEY, application: 'a' })).toMatchObject({ baseUrl: expected, pathPrefix });
  });

  it('asks for uncompressed JSON with the key as a bearer token', () => {
    expect(serviceAddress({ baseUrl: 'https://a.example', apiKey: KEY, application: 'a' }).headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'lote',
    });
  });

  it.each([
    '',
    'api.example.org',
    'ftp://a.example',
    'https://user:pw@a.example',
    'https://user@a.example',
    'https://:pw@a.example',
    'https://a.example?x=1',
    'https://a.example#x',
    'file:///etc',
  ])('refuses the address %j', (baseUrl) => {
    expect(() => serviceAddress({ baseUrl, apiKey: KEY, application: 'a' })).toThrow(/INVOICING_BASE_URL/);
  });

  it.each(['', 'a b', 'sk_test_1\r\nx-evil: 1', 'chavé', 'sk\u0000'])(
    'refuses the key %j without showing it',
    (apiKey) => {
      const attempt = (): unknown => serviceAddress({ baseUrl: 'https://a.example', apiKey, application: 'a' });

      expect(attempt).toThrow(expect.objectContaining({ code: 'configuration-invalid' }));
      expect(attempt).toThrow(
        apiKey === '' ? /characters only, found nothing/ : /characters only, found something else/,
      );
      if (apiKey !== '') expect(attempt).not.toThrow(new RegExp(apiKey));
    },
  );

  it.each(['sk_live_very-secret', 'anything-else', 'sk_tes_typo'])(
    'refuses to send the key %j over plain http to another machine, without showing it',
    (apiKey) => {
      const attempt = (): unknown => serviceAddress({ baseUrl: 'http://a.example:8080', apiKey, application: 'a' });

      expect(attempt).toThrow(expect.objectContaining({ code: 'configuration-invalid' }));
      expect(attempt).toThrow(/"a\.example"\. Nothing was sent.*"allowPlainHttp": true/s);
      expect(attempt).not.toThrow(new RegExp(apiKey));
      for (const baseUrl of [
        'http://127.0.0.1.a.example',
        'http://localhost.a.example',
        'http://10.0.0.1',
        'http://evil-localhost',
        'http://my.localhost',
        'http://0.0.0.0',
      ]) {
        expect(() => serviceAddress({ baseUrl, apiKey, application: 'a' })).toThrow(/must go over https/);
      }
    },
  );

  it.each([
    ['https://a.example', 'sk_live_x', {}],
    ['http://127.0.0.1:8092', 'sk_live_x', {}],
    ['http://localhost:8092', 'sk_live_x', {}],
    ['http://127.10.20.130:8092', 'sk_live_x', {}],
    ['http://[::1]:8092', 'sk_live_x', {}],
    ['http://a.example', 'sk_test_x', {}],
    ['http://a.example', 'sk_live_x', { allowPlainHttp: true }],
  ])('takes %s with %s and %j', (baseUrl, apiKey, over) => {
    expect(serviceAddress({ baseUrl, apiKey, application: 'a', ...over }).baseUrl).toBe(baseUrl);
  });
});
