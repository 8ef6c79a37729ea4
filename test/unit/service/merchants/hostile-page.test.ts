import { expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { readMerchantList } from '../../../../src/service/merchants/merchant-list.ts';

const DEEP = JSON.parse(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`) as unknown;

/** The page has no merchants: only what stands beside them is read. */
async function listOf(beside: object) {
  const value = { data: [], ...beside };
  return await readMerchantList(
    () => Promise.resolve({ kind: 'answer', status: 200, retryAfterMs: null, body: { kind: 'json', value } }),
    { profile: DEFAULT_PROFILE, baseUrl: 'https://service.example' },
  );
}

it('a next page nested without end is a sign that the list goes on, and no crash', async () => {
  expect(await listOf({ next: DEEP })).toMatchObject({ kind: 'unreadable' });
});

it.each([
  ['an object that has no text', { toString: null, valueOf: null }],
  ['a list nested without end', DEEP],
])('a relation that is %s names no next page', async (_name, rel) => {
  expect(await listOf({ links: [{ rel }] })).toEqual({ kind: 'list', merchants: [] });
});
