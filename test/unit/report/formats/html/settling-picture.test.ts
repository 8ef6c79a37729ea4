import { expect, it } from 'vitest';
import { settlingPicture } from '../../../../../src/report/formats/html/settling-picture.ts';
import { reportFormat } from '../../../../../src/report/texts/report-format.ts';
import { chooseLanguage } from '../../../../../src/texts/choose-language.ts';

const ENGLISH = reportFormat(chooseLanguage('en'));

it('says in a sentence what it draws, with a bar and a row for each doubling', () => {
  // 1.28 s and 20.48 s; four hours.
  const { safe } = settlingPicture({ settling: { 56: 900, 88: 60, 164: 40 } }, ENGLISH);

  expect(safe).toContain(
    'Half of the invoices had their final word within 1.3 s of their first POST, 95 of 100 within 20 s.',
  );
  expect(safe.match(/<rect /gu)).toHaveLength(15);
  expect([...safe.matchAll(/height="(?<h>[\d.]+)" \/>/gu)].map(({ groups }) => groups?.['h'])).toEqual([
    '80.0',
    '0.0',
    '0.0',
    '0.0',
    '5.3',
    ...Array.from({ length: 9 }, () => '0.0'),
    '3.6',
  ]);
  expect(safe.match(/<tr>/gu)).toHaveLength(16);
  expect(safe).toContain('<td>5.8 h</td><td class="number">40</td>');
});

it('is not there when nothing was settled', () => {
  expect(settlingPicture({ settling: {} }, ENGLISH).safe).toBe('');
});

it('writes durations with the decimal mark of the reader', () => {
  const { safe } = settlingPicture({ settling: { 56: 900 } }, reportFormat(chooseLanguage('pt-PT')));

  expect(safe).toContain('Metade das faturas teve a palavra final até 1,3 s depois do primeiro POST');
});
