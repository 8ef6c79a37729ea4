import { describe, expect, it } from 'vitest';
import { serviceAddress } from '../../../src/service/service-connection.ts';

const KEY = 'sk_test_very-secret-1234';

function addressOf(baseUrl: string, apiKey: string, allowPlainHttp = false) {
  return serviceAddress({ baseUrl, apiKey, application: 'a', profile: { allowPlainHttp } });
}

describe('serviceAddress', () => {
  it.each([
    ['https://api.example.org', 'https://api.example.org', ''],
    ['https://api.example.org/', 'https://api.example.org', ''],
    ['https://api.example.org/tax//', 'https://api.example.org/tax', '/tax'],
    ['http://127.0.0.1:8092/tax/', 'http://127.0.0.1:8092/tax', '/tax'],
    ['HTTPS://API.example.org:443', 'https://api.example.org', ''],
  ])('reads %s', (baseUrl, expected, pathPrefix) => {
    expect(addressOf(baseUrl, KEY)).toMatchObject({ baseUrl: expected, pathPrefix });
  });

  it('asks for uncompressed JSON with the key as a bearer token', () => {
    expect(addressOf('https://a.example', KEY).headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'lote',
    });
  });

  it.each(['sk_live_very-secret', 'anything-else', 'sk_tes_typo'])(
    'refuses to send the key %j over plain http to another machine, without showing it',
    (apiKey) => {
      const attempt = (): unknown => addressOf('http://a.example:8080', apiKey);

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
        expect(() => addressOf(baseUrl, apiKey)).toThrow(/must go over https/);
      }
    },
  );

  it.each([
    ['https://a.example', 'sk_live_x', false],
    ['http://127.0.0.1:8092', 'sk_live_x', false],
    ['http://localhost:8092', 'sk_live_x', false],
    ['http://127.10.20.130:8092', 'sk_live_x', false],
    ['http://[::1]:8092', 'sk_live_x', false],
    ['http://a.example', 'sk_test_x', false],
    ['http://a.example', 'sk_live_x', true],
  ])('takes %s with %s, where plain HTTP is allowed: %j', (baseUrl, apiKey, allowPlainHttp) => {
    expect(addressOf(baseUrl, apiKey, allowPlainHttp).baseUrl).toBe(baseUrl);
  });
});
