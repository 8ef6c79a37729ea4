import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BATCH_ONLY_OUTCOMES, INVOICE_STATES } from '../../../src/domain/invoice-state.ts';
import { README, tableAfter } from '../../support/lote/readme.ts';

const DOCS = new URL('../../../docs/', import.meta.url);
const GLOSSARY = readFileSync(new URL('glossary.md', DOCS), 'utf8');
const words = tableAfter(`\n${GLOSSARY}`, '# Glossary').map(([word = '']) => word);

describe('docs/glossary.md', () => {
  it('is alphabetical, without a word twice', () => {
    const spelled = words.map((word) => word.toLowerCase().replaceAll('-', ' '));

    expect(spelled).toEqual([...new Set(spelled)].toSorted());
  });

  it('explains each state of an invoice and each outcome of a report', () => {
    expect(words).toEqual(expect.arrayContaining([...INVOICE_STATES, ...BATCH_ONLY_OUTCOMES]));
  });

  it('is linked from the pages that a newcomer opens first', () => {
    expect(README).toContain('(docs/glossary.md)');
    expect(readFileSync(new URL('architecture.md', DOCS), 'utf8')).toContain('(glossary.md)');
  });
});
