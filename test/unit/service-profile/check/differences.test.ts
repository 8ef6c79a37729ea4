import { describe, expect, it } from 'vitest';
import { differencesFromDefault } from '../../../../src/service-profile/check/differences.ts';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';

const differences = (profile: object) => differencesFromDefault(loadProfile(JSON.stringify(profile)));

describe('the differences of a profile from the default', () => {
  it('are none for what the default says too', () => {
    expect(differences({ limits: { maxConcurrency: 64 }, invoice: { issued: ['issued'] } })).toEqual([]);
  });

  it('are one for each setting', () => {
    expect(
      differences({ signature: { prefix: 'sha256=', secret: { prefix: 'whsec_' } }, event: { items: '/events' } }),
    ).toEqual([
      { key: 'signature.prefix', value: 'sha256=', default: '' },
      { key: 'signature.secret.prefix', value: 'whsec_', default: '' },
      { key: 'event.items', value: '/events', default: null },
    ]);
  });

  it('do not show texts of headers, and of bodies only the placeholders', () => {
    const [headers, body] = differences({
      requests: {
        headers: { 'X-Key': 'abc' },
        createMerchant: { body: { name: '{legal_name}', nif: '{nif}', key: 'abc', n: [1] } },
      },
    });

    expect(headers?.value).toEqual({ 'X-Key': '(not shown)' });
    expect(body?.value).toEqual({ name: '{legal_name}', nif: '{nif}', key: '(not shown)', n: [1] });
  });
});
