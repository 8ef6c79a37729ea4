import { expect, it } from 'vitest';
import { eachInTurn } from '../../../activities/each-in-turn.ts';

it('takes one item of each group in turn, and loses none', () => {
  const items = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'];

  expect(eachInTurn(items, (item) => item.charAt(0))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect(eachInTurn([], () => 'one')).toEqual([]);
  expect(eachInTurn(items, () => 'one')).toEqual(items);
});
