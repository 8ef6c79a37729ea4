import { describe, expect, it } from 'vitest';
import type { ExchangeResult } from '../../../../src/service/exchange-result.ts';
import { readMerchantList } from '../../../../src/service/merchants/merchant-list.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/default-profile.ts';

function answer(value: unknown, status = 200): ExchangeResult {
  return { kind: 'answer', status, retryAfterMs: null, body: { kind: 'json', value } };
}

/** Pages in order; asking for one that is not there is an error of the test. */
async function readPages(pages: readonly ExchangeResult[], profile = DEFAULT_PROFILE) {
  const asked: string[] = [];
  const list = await readMerchantList(
    (path) => {
      const page = pages[asked.length];
      asked.push(path);
      return page === undefined ? Promise.reject(new Error('one page too many')) : Promise.resolve(page);
    },
    { profile, baseUrl: 'https://service.example' },
  );
  return { list, asked };
}

const merchant = (nif: unknown, id: unknown = `mrc_${String(nif)}`) => ({ id, nif });

describe('readMerchantList', () => {
  it('asks each page by the cursor of the one before, also when it is a number', async () => {
    const { list, asked } = await readPages([
      answer({ data: [merchant('1')], next_cursor: 'a b/c?' }),
      answer({ data: [], next_cursor: 7 }),
      answer({ data: [merchant('2')] }),
    ]);

    expect(asked).toEqual(['/v1/merchants', '/v1/merchants?cursor=a%20b%2Fc%3F', '/v1/merchants?cursor=7']);
    expect(list).toEqual({
      kind: 'list',
      merchants: [
        { nif: '1', merchantId: 'mrc_1' },
        { nif: '2', merchantId: 'mrc_2' },
      ],
    });
  });

  it('knows a merchant again however the service writes its tax number', async () => {
    const { list } = await readPages([
      answer({ data: [merchant('501 964 843', 'mrc_a'), merchant(502757191, 'mrc_b')] }),
    ]);

    expect(list).toMatchObject({
      merchants: [
        { nif: '501964843', merchantId: 'mrc_a' },
        { nif: '502757191', merchantId: 'mrc_b' },
      ],
    });
  });

  it('cannot be read when no merchant of it has a tax number of digits: each would be created again', async () => {
    const { list } = await readPages([
      answer({ data: [merchant('a@one.example', 'mrc_a')], next_cursor: 'x' }),
      answer({ data: [merchant('PT501964843', 'mrc_b'), merchant('501964843-PT', 'mrc_c')] }),
    ]);

    expect(list).toMatchObject({
      kind: 'unreadable',
      reason: {
        code: 'service-list-unreadable',
        message: expect.stringContaining('no tax number of digits at /nif (merchants.nif) of any merchant') as string,
      },
    });
    expect(JSON.stringify(list)).not.toContain('one.example');
  });

  it('may hold merchants with other tax numbers beside one of digits', async () => {
    const { list } = await readPages([answer({ data: [merchant('ESB1', 'mrc_a'), merchant('501964843', 'mrc_b')] })]);

    expect(list).toMatchObject({ kind: 'list', merchants: [{ nif: 'ESB1' }, { nif: '501964843' }] });
  });

  it('takes the first record of a tax number, over pages too: every run must use the same one', async () => {
    const { list } = await readPages([
      answer({ data: [merchant('1', 'mrc_old'), merchant('1', 'mrc_twice')], next_cursor: 'x' }),
      answer({ data: [merchant('1', 'mrc_new')] }),
    ]);

    expect(list).toEqual({ kind: 'list', merchants: [{ nif: '1', merchantId: 'mrc_old' }] });
  });

  it.each<[string, unknown]>([
    ['no list', {}],
    ['an object where the list should be', { data: {} }],
    ['a merchant without an id', { data: [{ nif: '1' }] }],
    ["an id that is no merchant's", { data: [merchant('1', 'inv_1')] }],
    ['an id that would leave its place in a path', { data: [merchant('1', 'mrc_../x')] }],
    ['no tax number', { data: [{ id: 'mrc_1' }] }],
    ['an empty tax number', { data: [merchant(' ', 'mrc_1')] }],
    ['a tax number with a fraction', { data: [merchant(1.5, 'mrc_1')] }],
    ['null in the list', { data: [null] }],
    ['a cursor that is no text', { data: [], next_cursor: { page: 2 } }],
    ['a cursor that is a fraction', { data: [], next_cursor: 0.5 }],
  ])('is unreadable as a whole with %s: a merchant missed here would be created twice', async (_, page) => {
    const { list } = await readPages([answer({ data: [merchant('9')], next_cursor: 'x' }), answer(page)]);

    expect(list).toMatchObject({ kind: 'unreadable', reason: { code: 'service-list-unreadable' } });
    expect(JSON.stringify(list)).not.toContain('mrc_9');
  });

  it.each([
    [407, 'service-unauthorized'],
    [408, 'service-unreachable'],
    [425, 'service-unreachable'],
    [302, 'service-list-unreadable'],
    [400, 'service-list-unreadable'],
    [404, 'service-list-unreadable'],
  ])('calls a %d %s', async (status, code) => {
    const { list } = await readPages([answer({ data: [] }, status)]);

    expect(list).toMatchObject({ kind: 'unreadable', reason: { code } });
  });

  it.each([
    [403, 'slow_down', 'service-unreachable'],
    [403, 'forbidden', 'service-unauthorized'],
    [400, 'key_unknown', 'service-unauthorized'],
    [500, 'closed', 'service-list-unreadable'],
    [422, 'who_knows', 'service-unreachable'],
  ])('calls a %d with %s as the rules of the profile do: %s', async (status, code, expected) => {
    const rules = [
      { status: [403], code: ['slow_down'], means: 'later' as const },
      { code: ['key_unknown'], means: 'access' as const },
      { code: ['closed'], means: 'refused' as const },
      { code: ['who_knows'], means: 'lost' as const },
    ];
    const profile = { ...DEFAULT_PROFILE, answers: { ...DEFAULT_PROFILE.answers, rules } };
    const { list } = await readPages([answer({ error: { code } }, status)], profile);

    expect(list).toMatchObject({ kind: 'unreadable', reason: { code: expected } });
  });
});
