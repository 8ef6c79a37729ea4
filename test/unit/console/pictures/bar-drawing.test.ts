import { expect, it } from 'vitest';
import { barDrawing } from '../../../../src/console/pictures/bar-drawing.ts';
import { fillsOf } from '../../../../src/console/pictures/fill-pattern.ts';
import { lineDrawing } from '../../../../src/console/pictures/line-drawing.ts';

/** The data of the paths that are drawn, without those of the textures. */
function pathsOf(drawing: unknown): readonly string[] {
  return [...String(drawing).matchAll(/<path\s+class="(?:part|line)[^"]*"\s+d="([^"]*)"/gu)].map(([, d]) => d ?? '');
}

it('stands the parts of a bar on each other, and draws what is there however small it is', () => {
  const [solid, hatch] = fillsOf('p', 2);
  if (solid === undefined || hatch === undefined) throw new Error('two fills');

  const paths = pathsOf(
    barDrawing(
      [
        { fill: solid, values: [50, 0] },
        { fill: hatch, values: [50, 0.001] },
      ],
      100,
    ),
  );

  expect(paths).toEqual(['M0.5 80h359v80h-359z', 'M0.5 0h359v80h-359zM360.5 158.5h359v1.5h-359z']);
});

it('keeps small parts of the highest bar within the drawing', () => {
  const fills = fillsOf('p', 3);

  const paths = pathsOf(
    barDrawing(
      fills.map((fill, at) => ({ fill, values: [at === 0 ? 998 : 1] })),
      1_000,
    ),
  );

  expect(paths).toEqual(['M0.5 3h719v157h-719z', 'M0.5 1.5h719v1.5h-719z', 'M0.5 0h719v1.5h-719z']);
});

it('breaks a line where nothing is known, and shows a lone point', () => {
  const points = [10, null, 20, 40, null].map((value, at) => ({ x: at / 4, value }));

  expect(pathsOf(lineDrawing([points], 40))).toEqual(['M0 120h4M360 80L540 0']);
});

it('draws nothing of nothing', () => {
  expect(pathsOf(barDrawing([], 0))).toEqual([]);
  expect(pathsOf(lineDrawing([[{ x: 0, value: 0 }]], 0))).toEqual(['M0 160h4']);
});
