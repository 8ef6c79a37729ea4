import { describe, expect, it } from 'vitest';
import { secretMistakes } from '../../../src/service-profile/check/secret-texts.ts';
import { DEFAULT_PROFILE } from '../../../src/service-profile/default-profile.ts';
import { loadProfile } from '../../../src/service-profile/load-profile.ts';
import { exampleOf, placeOfSetting } from '../../../src/service-profile/place-example.ts';
import { readPointer } from '../../../src/domain/json-pointer.ts';
import { profileCopy } from '../../../src/service-profile/profile-copy.ts';
import { settingsOf } from '../../../src/service-profile/settings.ts';
import { PROFILES } from '../../support/any-service/profiles.ts';

describe('a profile as a file to edit', () => {
  it.each(PROFILES.map(({ name, profile }) => [name, profile] as const))(
    'says the same as the profile, and holds no secret: %s',
    (_, profile) => {
      const text = profileCopy(profile);

      expect(loadProfile(text)).toEqual(profile);
      expect(secretMistakes(text, [])).toEqual([]);
    },
  );

  it('has only what differs, each setting below its words', () => {
    const profile = {
      ...DEFAULT_PROFILE,
      limits: { ...DEFAULT_PROFILE.limits, requestsPerSecond: 10, maxConcurrency: 8 },
    };

    expect(profileCopy(profile)).toBe(`{
  // Only what differs from the default stands here.
  "limits": {
    // over all processes of a ledger; \`null\`: no limit
    "requestsPerSecond": 10,
    // requests at a time, over all processes of a ledger
    "maxConcurrency": 8
  }
}
`);
  });

  it('leaves out what looks like a secret, so that it cannot be saved by mistake', () => {
    const headers = { 'X-Api-Key': 'zq81', Accept: 'application/json' };
    const text = profileCopy({ ...DEFAULT_PROFILE, requests: { ...DEFAULT_PROFILE.requests, headers } });

    expect(text).not.toContain('zq81');
    expect(text).toContain('"Accept": "application/json"');
    expect(secretMistakes(text, []).map(({ path }) => path.join('.'))).toEqual(['requests.headers.X-Api-Key']);
  });
});

describe('the settings of a profile', () => {
  it.each(PROFILES.map(({ name, profile }) => [name, profile] as const))('have their words: %s', (_, profile) => {
    for (const { key, words } of settingsOf(profile)) expect(words.length, key).toBeGreaterThan(5);
  });

  it('are shown with an example that their place reads', () => {
    for (const { profile } of PROFILES)
      for (const { key, value } of settingsOf(profile)) {
        const example = exampleOf(key, value, profile);
        if (example?.kind !== 'json') continue;
        const [pointer] = [placeOfSetting(key, value) ?? []].flat();
        expect(readPointer(JSON.parse(example.text), String(pointer)), key).toBeDefined();
      }
  });

  it.each([
    ['invoice.id', '/data/0/id', 'json', '{"data":[{"id":"inv_7Kd2"}]}'],
    ['invoice.id', ['header:Location', '/id'], 'header', 'Location: inv_7Kd2'],
    ['error.message', 'text', 'text', 'This tax code is not known'],
    ['merchants.nextLink', 'header:Link', 'header', 'Link: </merchants?after=c2>; rel="next"'],
  ])('reads at %s with the place %j', (key, place, kind, text) => {
    expect(exampleOf(key, place, DEFAULT_PROFILE)).toEqual({ kind, text });
  });

  it('have no example where no place is set, or an expression', () => {
    expect(exampleOf('event.items', null, DEFAULT_PROFILE)).toBeNull();
    expect(exampleOf('error.code', 'jsonata:a.b', DEFAULT_PROFILE)).toBeNull();
    expect(exampleOf('limits.maxConcurrency', 3, DEFAULT_PROFILE)).toBeNull();
  });
});
