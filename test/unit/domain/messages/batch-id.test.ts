import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchIdOf } from '../../../../src/domain/messages/batch-id.ts';

const SHA = '0123456789abcdef'.repeat(4);

describe('the id of a batch', () => {
  it.each([
    ['sample.csv', 'batch-sample-01234567'],
    ['incoming/01234567/sample.csv', 'batch-sample-01234567'],
    ['incoming\\sample.csv', 'batch-sample-01234567'],
    ['Faturas Março 2027.CSV', 'batch-faturas-marco-2027-01234567'],
    ['Ñandú & Cía.json', 'batch-nandu-cia-01234567'],
    ['archive.2027.csv', 'batch-archive-2027-01234567'],
    ['.csv', 'batch-file-01234567'],
    ['---.csv', 'batch-file-01234567'],
    ['発票.csv', 'batch-file-01234567'],
    ['no-extension', 'batch-no-extension-01234567'],
    [`${'a'.repeat(60)}.csv`, `batch-${'a'.repeat(40)}-01234567`],
  ])('of %s is %s', (file, id) => {
    expect(batchIdOf('default', file, SHA)).toBe(id);
  });

  it('is the same from a system that writes an accent as a character of its own', () => {
    expect(batchIdOf('default', 'Março.csv'.normalize('NFD'), SHA)).toBe(batchIdOf('default', 'Março.csv', SHA));
  });

  it('starts with the application unless it is the default one', () => {
    expect(batchIdOf('iberia', 'sample.csv', SHA)).toBe('iberia-batch-sample-01234567');
  });

  it('is a name that needs no quoting anywhere, whatever a file is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (file) => {
        expect(batchIdOf('default', file, SHA)).toMatch(/^batch-[a-z0-9-]{1,40}-01234567$/u);
      }),
    );
  });

  it('is the same wherever the file lies', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{1,5}$/u)), (folders) => {
        expect(batchIdOf('default', [...folders, 'x.csv'].join('/'), SHA)).toBe('batch-x-01234567');
      }),
    );
  });
});
