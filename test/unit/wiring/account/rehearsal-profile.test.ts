import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { readProfile } from '../../../../src/wiring/account/open-service.ts';
import { rehearsalProfile } from '../../../../src/wiring/account/rehearsal-profile.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-rehearsal-profile-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
});

async function profile(text: string): Promise<string> {
  const path = join(directory, 'real.json');
  await writeFile(path, text);
  return path;
}

describe('the service profile of a rehearsal', () => {
  it('has limits and retry of the configured one, and speaks as the sandbox does', async () => {
    const limits = { requestsPerSecond: 7, maxConcurrency: 3 };
    const retry = { failedReasonCodes: ['busy'], maxGenerations: 2, repeatsPerInvoice: 4 };
    const path = await profile(JSON.stringify({ limits, retry, invoice: { id: '/data/id' }, environment: 'live' }));

    const written = rehearsalProfile({ serviceProfilePath: path }, directory);

    expect(readProfile({ serviceProfilePath: written })).toEqual({ ...DEFAULT_PROFILE, limits, retry });
  });

  it('is refused with every mistake of the configured one', async () => {
    const path = await profile('{"invoice":{"idd":"/x"}}');

    expect(() => rehearsalProfile({ serviceProfilePath: path }, directory)).toThrow('invoice.idd (line 1, column 13)');
  });

  it('is none when none is configured', async () => {
    expect(rehearsalProfile({ serviceProfilePath: null }, directory)).toBeNull();
    expect(await readdir(directory)).toEqual([]);
  });
});
