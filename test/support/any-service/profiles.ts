import { DEFAULT_PROFILE, type ServiceProfile } from '../../../src/service/profile/profile.ts';
import { loadProfile } from '../../../src/service/profile/check-profile.ts';
import { FAMILIES } from '../../services/families.ts';
import { pageText } from '../lote/readme.ts';

/** A service profile with its name. */
interface NamedProfile {
  readonly name: string;
  readonly profile: ServiceProfile;
}

const EXAMPLE = /^### (.+)\n[^]*?^```json\n([^]*?)^```$/gmu;

/** The default profile, the profile of each family of services, and the examples of docs/service-profile.md. */
export const PROFILES: readonly NamedProfile[] = [
  { name: 'default', profile: DEFAULT_PROFILE },
  ...FAMILIES.map(({ name, profile }) => ({ name, profile: loadProfile(JSON.stringify(profile)) })),
  ...[...(pageText('docs/service-profile.md').split('\n## Examples\n')[1] ?? '').matchAll(EXAMPLE)].map(
    ([, name = '', text]) => ({ name, profile: loadProfile(text) }),
  ),
];
