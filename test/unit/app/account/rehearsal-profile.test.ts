import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/default-profile.ts';
import { readProfile } from '../../../../src/app/account/read-profile.ts';
import { rehearsalProfile } from '../../../../src/cli/commands/rehearse.ts';

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
  it('keeps limits and retry alone', async () => {
    const limits = { requestsPerSecond: 7, maxConcurrency: 3, pollEverySeconds: null };
    const retry = { failedReasonCodes: ['busy'], maxGenerations: 2, repeatsPerInvoice: 4 };
    const over = { limits, retry, environment: 'live', merchants: { items: '/list' } };

    const rehearsal = rehearsalProfile({ serviceProfilePath: await profile(JSON.stringify(over)) }, directory);

    const held = readProfile({ serviceProfilePath: rehearsal ?? '' });
    expect(held).toEqual({ ...DEFAULT_PROFILE, limits, retry });
  });

  it('is refused with every mistake of the configured one', async () => {
    const serviceProfilePath = await profile('{"invoice":{"idd":"/x"}}');

    expect(() => rehearsalProfile({ serviceProfilePath }, directory)).toThrow('invoice.idd (line 1, column 13)');
  });

  it('is none when none is configured', async () => {
    expect(rehearsalProfile({ serviceProfilePath: null }, directory)).toBeNull();
    expect(await readdir(directory)).toEqual([]);
  });
});
