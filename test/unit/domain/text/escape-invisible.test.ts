import { expect, it } from 'vitest';
import { escapeInvisible } from '../../../../src/domain/text/escape-invisible.ts';

it('shows what a page or a terminal acts on, and says the same', () => {
  const said = ['may\u202Evsc.csv', 'a\u2066b\u200Fc', 'd\u009Be\u2028', 'Pão 価格'];
  const json = escapeInvisible(JSON.stringify(said));

  expect(json).toBe(String.raw`["may\u202evsc.csv","a\u2066b\u200fc","d\u009be\u2028","Pão 価格"]`);
  expect(JSON.parse(json)).toEqual(said);
});
