import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import { replay } from '../../../../src/wiring/replay/replay.ts';
import { defaultLike } from '../../../services/default-like.ts';
import { FAMILIES } from '../../../services/families.ts';
import { familyRecordings, PRIVATE } from './family-recordings.ts';

const CASES = [defaultLike, ...FAMILIES].map((family) => ({
  ...{ family, name: family.name, profile: loadProfile(JSON.stringify(family.profile)) },
}));

describe('recorded answers of a family of services', () => {
  it.each(CASES)('are all understood by the profile of $name', async ({ family, profile }) => {
    const recordings = await familyRecordings(family, profile);
    const { rows, findings, understood } = await replay(profile, recordings);

    expect(rows.filter((row) => row.understood !== true)).toEqual([]);
    expect(findings).toEqual([]);
    expect(understood).toBe(true);
  });

  it.each(CASES)('hold nothing private of $name', async ({ family, profile }) => {
    const text = JSON.stringify(await familyRecordings(family, profile));
    const forms = PRIVATE.flatMap((one) => [one, encodeURIComponent(one), ...base64Forms(one)]);

    expect(forms.filter((form) => text.toLowerCase().includes(form.toLowerCase()))).toEqual([]);
  });
});

/** How a text stands inside longer base64, at each of the three offsets. */
function base64Forms(text: string): readonly string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).toString('base64');
    const from = offset === 0 ? 0 : offset + 1;
    return encoded.replace(/=+$/, '').slice(from, -2);
  });
}
