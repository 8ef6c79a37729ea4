import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { hasParameter, sizeParameters, withParameters } from '../../../../src/service/merchants/page-path.ts';

describe('withParameters', () => {
  it.each<[string, [string, string][], string]>([
    ['/v1/merchants', [], '/v1/merchants'],
    ['/v1/merchants?type=a', [], '/v1/merchants?type=a'],
    ['/v1/merchants', [['page', '2']], '/v1/merchants?page=2'],
    ['/v1/merchants?', [['page', '2']], '/v1/merchants?page=2'],
    ['?type=a&page=1', [['page', '2']], '?type=a&page=2'],
    ['/v1/merchants?=x', [['page', '2']], '/v1/merchants?=x&page=2'],
    ['/v1/merchants?type=a%20b', [['page', '2']], '/v1/merchants?type=a%20b&page=2'],
    ['/v1/merchants?page=1&type=a', [['page', '2']], '/v1/merchants?type=a&page=2'],
    ['/v1/merchants?page%5Bsize%5D=1', [['page[size]', '50']], '/v1/merchants?page%5Bsize%5D=50'],
    [
      '/v1/merchants',
      [
        ['page[size]', '50'],
        ['after', 'a&b=c'],
      ],
      '/v1/merchants?page%5Bsize%5D=50&after=a%26b%3Dc',
    ],
  ])('joins %s with %j', (path, parameters, joined) => {
    expect(withParameters(path, parameters)).toBe(joined);
  });
});

describe('hasParameter', () => {
  it.each<[string, boolean]>([
    ['/v1/merchants', false],
    ['limit', false],
    ['?limit=5', true],
    ['/v1/merchants?limit=5', true],
    ['/v1/merchants?a=limit&nolimit=1', false],
    ['/v1/merchants?a=%zz&l%69mit', true],
  ])('%s: %s', (path, has) => {
    expect(hasParameter(path, 'limit')).toBe(has);
  });
});

describe('sizeParameters', () => {
  it.each<[string | null, number | null, readonly (readonly [string, string])[]]>([
    ['limit', 50, [['limit', '50']]],
    ['limit', null, []],
    [null, 50, []],
  ])('with %j and %j say %j', (sizeParameter, pageSize, parameters) => {
    expect(sizeParameters({ ...DEFAULT_PROFILE.merchants, sizeParameter, pageSize })).toEqual(parameters);
  });
});
