import { describe, expect, it } from 'vitest';
import { compileExpressions } from '../../../../src/service/profile/expression.ts';

async function evaluated(expression: string, body: unknown) {
  const evaluate = compileExpressions([`jsonata:${expression}`]);
  const { computed, exceeded } = (await evaluate?.({ body })) ?? {};
  return { found: computed?.get(expression), exceeded };
}

describe('an expression of the profile', () => {
  it('finds what it computes, and names nothing as exceeded', async () => {
    expect(await evaluated('a.b & "!"', { a: { b: 'x' } })).toEqual({ found: 'x!', exceeded: undefined });
  });

  it('that is made for another answer finds nothing: an error of types is no limit', async () => {
    expect(await evaluated('$split(a, "/")[0]', { a: 7 })).toEqual({ found: undefined, exceeded: undefined });
  });

  it.each([
    ['time', '($f := function($n) { $f($n + 1) }; $f(0))'],
    ['depth', '($f := function($n) { 1 + $f($n + 1) }; $f(0))'],
    ['length of a list', '[1..20000]'],
    ['size', '$join([1..9000].($pad("", 100, "x")))'],
  ])('that exceeds its limit of %s is named: its result is unknown', async (_, expression) => {
    expect(await evaluated(expression, {})).toEqual({ found: undefined, exceeded: expression });
  });
});
