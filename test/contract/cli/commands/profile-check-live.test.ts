import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { profileCheckLiveCommand, type LiveCheckCommand } from '../../../../src/cli/commands/profile-check-live.ts';
import { defaultLike } from '../../../services/default-like.ts';
import { startFake, type FakeService } from '../../../services/fake/fake-service.ts';
import { printed } from '../../../unit/cli/printed.ts';

let fake: FakeService;

beforeEach(async () => {
  fake = await startFake({ family: defaultLike });
  onTestFinished(() => fake.close());
});

const TYPED: LiveCheckCommand = { currency: 'EUR', taxCode: 'IVA_23', wait: '5s', yes: false, json: false };

async function check(over: Partial<LiveCheckCommand> = {}, env: NodeJS.ProcessEnv = {}): Promise<number> {
  const service = { INVOICING_BASE_URL: fake.url, INVOICING_API_KEY: fake.key };
  return profileCheckLiveCommand({ ...service, ...env }, { ...TYPED, ...over });
}

describe('lote profile check --live', () => {
  it('prints one line for each setting', async () => {
    const { stdout } = printed();

    expect(await check()).toBe(0);
    expect(stdout()).toMatch(/^setting +the profile looks at +received there +verdict$/mu);
    expect(stdout()).toMatch(/^invoice\.status +\/status +"issued" +fits$/mu);
    expect(stdout()).toMatch(/Lote reads everything that was created\. \d+ requests\./u);
  });

  it('prints one JSON document', async () => {
    const { stdout } = printed();

    expect(await check({ json: true })).toBe(0);
    expect(JSON.parse(stdout())).toMatchObject({ fits: true });
  });

  it.each<[string, Partial<LiveCheckCommand>, NodeJS.ProcessEnv, RegExp]>([
    ['a live key', {}, { INVOICING_API_KEY: 'sk_live_secret' }, /must be a test key .* say --yes/u],
    ['a live key without a tax number', { yes: true }, { INVOICING_API_KEY: 'sk_live_secret' }, /name a tax number/u],
    [
      'plain HTTP to another machine',
      {},
      { INVOICING_BASE_URL: 'http://service.example' },
      /must be an https address/u,
    ],
    ['no service', {}, { INVOICING_BASE_URL: '', INVOICING_API_KEY: '' }, /must name the service/u],
    ['a time without a unit', { wait: '5' }, {}, /--wait must be a duration/u],
  ])('sends nothing with %s', async (_what, over, env, why) => {
    printed();

    await expect(check(over, env)).rejects.toThrow(why);
    await expect(check(over, env)).rejects.toMatchObject({ code: 'usage' });
    await expect(check(over, env)).rejects.not.toThrow('secret');
    expect(fake.books.posts).toEqual([]);
  });
});
