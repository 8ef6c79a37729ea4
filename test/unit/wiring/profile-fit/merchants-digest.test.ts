import { expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import { merchantsDigestOf } from '../../../../src/wiring/profile-fit/profile-digest.ts';

function digestOf(profile: object): string {
  return merchantsDigestOf(loadProfile(JSON.stringify(profile)));
}

it.each([
  [{ merchants: { id: '/number' } }],
  [{ merchants: { createdId: '/data/id' } }],
  [{ requests: { listMerchants: { path: '/v2/merchants' } } }],
])('a profile that may find another id of a merchant has another digest: %j', (profile) => {
  expect(digestOf(profile)).not.toBe(digestOf({}));
});

it.each([[{ limits: { maxConcurrency: 3 } }], [{ merchants: { pageSize: 10, sizeParameter: 'limit' } }]])(
  'a profile that finds the same ids has the same digest: %j',
  (profile) => {
    expect(digestOf(profile)).toBe(digestOf({}));
  },
);
