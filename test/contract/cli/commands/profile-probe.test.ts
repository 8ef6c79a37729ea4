import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { profileProbeCommand, type ProfileProbeOptions } from '../../../../src/cli/commands/profile-probe.ts';
import { checkProfile } from '../../../../src/service-profile/check-profile.ts';
import { startFake, type FakeService } from '../../../services/fake/fake-service.ts';
import { squareLike } from '../../../services/square-like.ts';
import { printed } from '../../../unit/cli/printed.ts';

let directory: string;
let fake: FakeService;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-profile-probe-'));
  fake = await startFake({ family: squareLike });
  onTestFinished(async () => {
    await fake.close();
    await rm(directory, { recursive: true, force: true });
  });
});

const TYPED: ProfileProbeOptions = {
  ...{ force: false, name: 'Lote probe', email: 'lote-probe@example.com', currency: 'EUR', taxCode: 'IVA_23' },
  ...{ wait: '5s', live: false, yes: true, json: false },
};

function envOf(over: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { INVOICING_BASE_URL: fake.url, INVOICING_API_KEY: fake.key, ...over };
}

async function probe(over: Partial<ProfileProbeOptions>, env: NodeJS.ProcessEnv = envOf()): Promise<number> {
  return profileProbeCommand({ ...TYPED, ...over }, env);
}

describe('lote profile probe', () => {
  it('writes a proposal for its owner alone, and says what it recognised', async () => {
    const { stdout, stderr } = printed();
    const out = join(directory, 'service.json');

    expect(await probe({ out })).toBe(0);
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    expect(checkProfile(await readFile(out, 'utf8')).profile).toMatchObject({
      signature: { header: 'x-service-hmacsha1-signature', algorithm: 'sha1', signed: '{url}{body}' },
      event: { items: '/batch', invoiceId: '/data/object/invoice/id' },
    });
    expect(stderr()).toMatch(/This probe creates at the service:\n {2}a merchant {3}Lote probe, tax number \d{9}, /u);
    expect(stdout()).toContain('yes  the invoice is issued: issued');
  });

  it('prints the proposal alone on standard output without --out', async () => {
    const { stdout } = printed();

    expect(await probe({})).toBe(0);
    expect(checkProfile(stdout()).mistakes).toEqual([]);
  });

  it.each<[string, Partial<ProfileProbeOptions>, NodeJS.ProcessEnv, RegExp]>([
    ['a live key', {}, { INVOICING_API_KEY: 'sk_live_secret' }, /must be a test key .* say --live/u],
    ['a live key without a tax number', { live: true }, { INVOICING_API_KEY: 'sk_live_secret' }, /--live needs --nif/u],
    [
      'plain HTTP to another machine',
      {},
      { INVOICING_BASE_URL: 'http://service.example' },
      /must be an https address/u,
    ],
    ['no answer to its question', { yes: false }, {}, /Nobody can be asked here/u],
    ['no service', {}, { INVOICING_BASE_URL: '', INVOICING_API_KEY: '' }, /must name the service/u],
    ['a time without a unit', { wait: '5' }, {}, /--wait must be a duration/u],
  ])('sends nothing with %s', async (_what, over, env, why) => {
    printed();

    await expect(probe(over, envOf(env))).rejects.toThrow(why);
    await expect(probe(over, envOf(env))).rejects.toMatchObject({ code: 'usage' });
    await expect(probe(over, envOf(env))).rejects.not.toThrow('secret');
    expect(fake.books.posts).toEqual([]);
  });

  it('replaces no file unless --force is said', async () => {
    printed();
    const out = join(directory, 'service.json');
    await writeFile(out, '{}');

    await expect(probe({ out })).rejects.toThrow('--force');
    expect(fake.books.posts).toEqual([]);
    expect(await probe({ out, force: true })).toBe(0);
    expect((await stat(out)).mode & 0o777).toBe(0o600);
  });

  it('creates nothing at a service that does not know the key', async () => {
    printed();

    await expect(probe({}, envOf({ INVOICING_API_KEY: 'sk_test_other' }))).rejects.toMatchObject({
      code: 'service-unauthorized',
    });
    expect(fake.books.posts).toEqual([]);
  });
});
