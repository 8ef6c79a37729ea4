import { describe, expect, it } from 'vitest';
import { buildEnvironment, childEnvironment } from '../../../../src/app/process/child-environment.ts';
import { SECRET_VARIABLES } from '../../../../src/app/config/environment.ts';

const NAMES = [...SECRET_VARIABLES, 'LOTE_DATA_DIR', 'TEMPORAL_ADDRESS', 'AWS_SECRET_ACCESS_KEY', 'PGPASSWORD'];
const SECRETS = Object.fromEntries(NAMES.map((name) => [name, 'a-secret']));

describe('the environment of a program that Lote starts', () => {
  it('has where things are, and nothing of what Lote was given', () => {
    const env = { ...SECRETS, PATH: '/bin', HOME: '/home/x', TZ: 'UTC', HTTPS_PROXY: 'http://user:pw@proxy' };

    expect(childEnvironment(env)).toEqual({ PATH: '/bin', HOME: '/home/x', TZ: 'UTC' });
  });

  it('has for a build what reaches the module proxy, too', () => {
    const env = { ...SECRETS, PATH: '/bin', GOPROXY: 'https://proxy', GOFLAGS: '-mod=mod', https_proxy: 'http://p' };

    expect(buildEnvironment(env)).toEqual({
      ...{ PATH: '/bin', GOPROXY: 'https://proxy', GOFLAGS: '-mod=mod', https_proxy: 'http://p' },
    });
  });
});
