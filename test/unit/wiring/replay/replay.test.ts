import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import { replay } from '../../../../src/wiring/replay/replay.ts';
import { defaultLike } from '../../../services/default-like.ts';
import { FAMILIES } from '../../../services/families.ts';
import { familyRecordings } from './family-recordings.ts';

const CASES = [defaultLike, ...FAMILIES].map((family) => ({
  ...{ family, name: family.name, profile: loadProfile(JSON.stringify(family.profile)) },
}));

describe('recorded answers of a family of services', () => {
  it.each(CASES)('are all understood by the profile of $name', async ({ family, profile }) => {
    const { rows, findings, understood } = await replay(profile, await familyRecordings(family, profile));

    expect(rows.filter((row) => row.understood !== true)).toEqual([]);
    expect(findings).toEqual([]);
    expect(understood).toBe(true);
  });
});
