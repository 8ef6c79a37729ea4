import { expect, it } from 'vitest';
import { durationText } from '../../../../src/console/pictures/duration-text.ts';

it.each([
  [40, 'en', '0 seconds'],
  [320, 'en', '0.3 seconds'],
  [1_000, 'en', '1 second'],
  [59_400, 'pt', '59,4 segundos'],
  [60_000, 'es', '1 minuto'],
  [125_000, 'en', '2 minutes 5 seconds'],
  [119_900, 'en', '2 minutes'],
  [754_000, 'en', '13 minutes'],
  [7_500_000, 'en', '2 hours 5 minutes'],
  [90_000_000, 'en', '25 hours'],
])('tells %d ms in %s as %s', (ms, language, text) => {
  expect(durationText(ms, language)).toBe(text);
});
