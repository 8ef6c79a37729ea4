import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig, type Config } from '../../../../src/runtime/config/config.ts';
import { readProfiles } from '../../../../src/wiring/account/read-profiles.ts';

describe('the profiles of several applications', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lote-profiles-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  async function application(name: string, idPrefix?: string): Promise<Config> {
    const config = { ...readConfig({}, directory), application: name };
    if (idPrefix === undefined) return config;
    const serviceProfilePath = join(directory, `${name}.json`);
    await writeFile(serviceProfilePath, JSON.stringify({ invoice: { idPrefix } }));
    return { ...config, serviceProfilePath };
  }

  it('are refused where ids have no prefix: each account may count from 1', async () => {
    const [anna, berta] = [await application('anna'), await application('berta', '')];

    expect(() => readProfiles([anna, berta])).toThrow(
      /invoice\.idPrefix of a service profile must not be empty[^]*berta \(.*berta\.json\)[^]*installation of its own/u,
    );
  });

  it('are read where every id has a prefix, and of one alone also without', async () => {
    const [anna, berta] = [await application('anna', 'doc-'), await application('berta', '')];

    const prefixes = (...configs: [Config, ...Config[]]) =>
      readProfiles(configs).map(({ profile }) => profile.invoice.idPrefix);

    expect(prefixes(anna, await application('carla'))).toEqual(['doc-', 'inv_']);
    expect(prefixes(berta)).toEqual(['']);
  });
});
