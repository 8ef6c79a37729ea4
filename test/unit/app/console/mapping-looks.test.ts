import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mapFile } from '../../../../src/app/files/map-file.ts';
import { chosenAtPrompt } from '../../../../src/cli/session/mapping-options.ts';
import { mappingText } from '../../../../src/cli/output/check-text.ts';
import { removeTemporaryFiles, temporaryFile } from '../../ingest/ingested.ts';

afterAll(removeTemporaryFiles);

const HEADER = 'invoice_ref;merchant_nif;merchant_legal_name;customer_name;Obs;description;quantity;unit_price';

async function looks(...rows: readonly string[]): Promise<readonly string[]> {
  const path = temporaryFile(`${[HEADER, ...rows].join('\n')}\n`, 'a.csv');
  const mapped = await mapFile({
    ...{ path, inputDir: dirname(path), choices: chosenAtPrompt({}, {}), bodyTemplate: null },
  });
  const text = mapped === null ? '' : mappingText('a.csv', mapped);
  for (const { header } of mapped?.looks ?? []) expect(text).toContain(`"${header}"`);
  expect(text.includes('look at this first')).toBe((mapped?.looks.length ?? 0) > 0);
  return (mapped?.looks ?? []).map(({ code, header }) => `${code} ${header}`);
}

describe('the proposal of a mapping says what deserves a look', () => {
  it('is silent about a plain table', async () => {
    expect(await looks('F1;500000000;Loja;Ana;x;Caneta;1;2.00', 'F2;500000000;Loja;Rui;x;Papel;1;3.00')).toEqual([]);
  });

  it.each([
    [
      'a column that is not used and differs within one reference',
      'differs Obs',
      [
        'F1;500000000;Loja;Ana;x;Caneta;1;2.00',
        'F1;500000000;Loja;Ana;y;Papel;1;3.00',
        'F2;500000000;Loja;Rui;x;Fita;1;1.00',
      ],
    ],
    [
      'a reference that is the same in all rows',
      'same-reference invoice_ref',
      ['F1;500000000;Loja;Ana;x;Caneta;1;2.00', 'F1;500000000;Loja;Rui;x;Papel;1;3.00'],
    ],
    [
      'a party column that holds only codes',
      'digits customer_name',
      ['F1;500000000;Loja;1023;x;Caneta;1;2.00', 'F2;500000000;Loja;1024;x;Papel;1;3.00'],
    ],
    [
      'a merchant that differs as often as the customer',
      'merchants merchant_legal_name',
      ['F1;500000000;Loja A;Ana;x;Caneta;1;2.00', 'F2;500000000;Loja B;Rui;x;Papel;1;3.00'],
    ],
  ])('%s', async (_, look, rows) => {
    expect(await looks(...rows)).toContain(look);
  });

  it('two candidates for one meaning', async () => {
    const path = temporaryFile(`${HEADER.replace('Obs', 'Price')}\nF1;500000000;Loja;Ana;9;Caneta;1;2.00\n`, 'b.csv');
    const mapped = await mapFile({
      ...{ path, inputDir: dirname(path), choices: chosenAtPrompt({}, {}), bodyTemplate: null },
    });

    expect(mapped?.looks).toContainEqual({ code: 'candidates', header: 'Price', other: 'unit_price' });
  });
});
