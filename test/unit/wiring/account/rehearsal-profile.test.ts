import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { readProfile } from '../../../../src/wiring/account/read-profiles.ts';
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

/** The profile that Lote has in a rehearsal, and what the person who waits is told. */
function rehearse(serviceProfilePath: string | null, profilePath: string | null = null) {
  const { sandbox } = readConfig({}, directory);
  const rehearsal = rehearsalProfile({ serviceProfilePath, sandbox: { ...sandbox, profilePath } }, directory);
  if (rehearsal === null) throw new Error('A profile is configured');
  const { env, note } = rehearsal;
  return { env, note, held: readProfile({ serviceProfilePath: env['SERVICE_PROFILE'] ?? '' }) };
}

const limits = { requestsPerSecond: 7, maxConcurrency: 3, pollEverySeconds: null };
const retry = { failedReasonCodes: ['busy'], maxGenerations: 2, repeatsPerInvoice: 4 };

describe('the service profile of a rehearsal', () => {
  it('is the whole configured one, which the sandbox speaks, with its own key', async () => {
    const over = { limits, retry, environment: 'live', merchants: { items: '/list' } };
    const path = await profile(JSON.stringify(over));

    const { env, note, held } = rehearse(path);

    const merchants = { ...DEFAULT_PROFILE.merchants, items: '/list' };
    expect(held).toEqual({ ...DEFAULT_PROFILE, limits, retry, merchants });
    expect(env['SANDBOX_PROFILE']).toBe(env['SERVICE_PROFILE']);
    expect(env).not.toHaveProperty('WEBHOOK_SECRET');
    expect(note).toBe('The whole service profile holds in this rehearsal, and the sandbox speaks as it says.');
  });

  it('has a place of the sandbox before each expression, and says so', async () => {
    const path = await profile('{"invoice":{"id":"jsonata:$split(name, \'/\')[-1]","status":"/data/status"}}');

    const { held, note } = rehearse(path);

    expect(held.invoice.id).toEqual(['/sandbox_invoice_id', "jsonata:$split(name, '/')[-1]"]);
    expect(note).toContain('but for invoice.id: what an expression would find');
  });

  it('keeps limits and retry alone when the sandbox cannot speak it, and says why', async () => {
    const merchants = { items: '', nextCursor: '/next' };
    const path = await profile(JSON.stringify({ limits, retry, merchants }));

    const { env, held, note } = rehearse(path);

    expect(held).toEqual({ ...DEFAULT_PROFILE, limits, retry });
    expect(env).not.toHaveProperty('SANDBOX_PROFILE');
    expect(note).toContain('The sandbox cannot speak this profile: merchants: not all of its places can be written');
    expect(note).toContain('Its limits and retry hold in this rehearsal');
  });

  it('leaves SANDBOX_PROFILE to the person who set it', async () => {
    const path = await profile('{"invoice":{"id":"/data/id"}}');

    const { env, held } = rehearse(path, '/elsewhere/other.json');

    expect(env['SANDBOX_PROFILE']).toBe('/elsewhere/other.json');
    expect(held.invoice.id).toBe('/data/id');
  });

  it.each([
    [
      { webhook: { register: false }, signature: { secret: { prefix: 'whsec_', encoding: 'base64' } } },
      /^whsec_[\w+/]{32}$/,
    ],
    [{ signature: { kind: 'path' } }, /^[0-9a-f]{48}$/],
  ])('brings a secret for a service that needs one before the registration: %j', async (over, form) => {
    expect(rehearse(await profile(JSON.stringify(over))).env['WEBHOOK_SECRET']).toMatch(form);
  });

  it('is refused with every mistake of the configured one', async () => {
    const path = await profile('{"invoice":{"idd":"/x"}}');

    expect(() => rehearse(path)).toThrow('invoice.idd (line 1, column 13)');
  });

  it('is none when none is configured', async () => {
    const { sandbox } = readConfig({}, directory);

    expect(rehearsalProfile({ serviceProfilePath: null, sandbox }, directory)).toBeNull();
    expect(await readdir(directory)).toEqual([]);
  });
});
