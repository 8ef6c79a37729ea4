import { describe, expect, it } from 'vitest';
import { BATCH_ONLY_OUTCOMES, INVOICE_STATES } from '../../../src/domain/invoice-state.ts';
import { pageText, README, tableAfter } from '../../support/lote/readme.ts';

const words = tableAfter(pageText('docs/architecture.md'), '## Glossary').map(([word = '']) => word);

describe('the glossary of docs/architecture.md', () => {
  it('is alphabetical, without a word twice', () => {
    const spelled = words.map((word) => word.toLowerCase().replaceAll('-', ' '));

    expect(spelled).toEqual([...new Set(spelled)].toSorted());
  });

  it('explains each state of an invoice and each outcome of a report', () => {
    expect(words).toEqual(expect.arrayContaining([...INVOICE_STATES, ...BATCH_ONLY_OUTCOMES]));
  });

  it('is linked from README.md, and has at most 60 words', () => {
    expect(README).toContain('(docs/architecture.md#glossary)');
    expect(words.length).toBeLessThanOrEqual(60);
  });
});
