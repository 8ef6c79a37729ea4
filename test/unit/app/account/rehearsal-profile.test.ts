import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/default-profile.ts';
import { readProfile } from '../../../../src/app/account/read-profile.ts';
import { rehearsalProfile } from '../../../../src/cli/commands/rehearse.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-rehearsal-profile-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
});

it('a rehearsal keeps limits and retry of the service profile alone, and writes none when none is configured', async () => {
  const limits = { requestsPerSecond: 7, maxConcurrency: 3, pollEverySeconds: null };
  const retry = { failedReasonCodes: ['busy'], maxGenerations: 2, repeatsPerInvoice: 4 };
  const serviceProfilePath = join(directory, 'real.json');
  await writeFile(
    serviceProfilePath,
    JSON.stringify({ limits, retry, environment: 'live', merchants: { items: '/list' } }),
  );

  const rehearsal = rehearsalProfile({ serviceProfilePath }, directory);

  expect(readProfile({ serviceProfilePath: rehearsal })).toEqual({ ...DEFAULT_PROFILE, limits, retry });
  expect(rehearsalProfile({ serviceProfilePath: null }, directory)).toBeNull();
});
