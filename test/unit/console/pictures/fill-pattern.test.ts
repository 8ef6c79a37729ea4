import { expect, it } from 'vitest';
import { fillPattern, fillsOf } from '../../../../src/console/pictures/fill-pattern.ts';

function textOf(drawing: unknown): string {
  return String(drawing);
}

it.each([false, true])('gives parts textures that differ without their colours (all of trouble: %s)', (ofTrouble) => {
  const drawn = fillsOf('p', 6, ofTrouble).map((fill) =>
    textOf(fillPattern(fill)).replaceAll(/\s(?:id|class="(?:good|bad|open|under-way)")(?:="[^"]*")?/gu, ''),
  );

  expect(new Set(drawn).size).toBe(6);
  expect(fillsOf('p', 6, ofTrouble).some(({ tone }) => tone === 'good')).toBe(!ofTrouble);
});
