import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service/profile/load-profile.ts';
import { settingsOf } from '../../../../src/service/profile/settings.ts';

const differences = (profile: object) =>
  settingsOf(loadProfile(JSON.stringify(profile)))
    .filter(({ differs }) => differs)
    .map(({ key, value, default: byDefault }) => ({ key, value, default: byDefault }));

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
