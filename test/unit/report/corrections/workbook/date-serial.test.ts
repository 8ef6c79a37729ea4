import { describe, expect, it } from 'vitest';
import { serialDate } from '../../../../../src/ingest/workbook/xlsx/sheet-handler.ts';
import { serialOf } from '../../../../../src/report/corrections/workbook/cell-xml.ts';

describe('the number of a date', () => {
  it.each([0, 0.5, 0.25, 1, 58, 59, 60, 61, 62, 46_349, 46_349.999_988_425_9, 2_958_465])(
    'is the one that is read as it: %d',
    (serial) => {
      const date = serialDate(serial, 1900) ?? '';

      expect(Number(serialOf(date))).toBeCloseTo(serial, 9);
    },
  );

  it.each(['', '23.11.2026', 'PT12H30M00S', '2026-11', '1800-01-01'])('is none for other texts: %s', (text) => {
    expect(serialOf(text)).toBeNull();
  });
});
