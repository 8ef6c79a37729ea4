import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const DECISIONS = new URL('../../../docs/decisions/', import.meta.url);
const INDEX = readFileSync(new URL('README.md', DECISIONS), 'utf8');
const pages = readdirSync(DECISIONS).filter((name) => name !== 'README.md');

describe('docs/decisions/README.md', () => {
  it.each(pages)('lists each decision of %s, in the order of that page', (page) => {
    const decisions = readFileSync(new URL(page, DECISIONS), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('## '))
      .map((line) => line.slice('## '.length));
    const [, ofPage = ''] = INDEX.split(`](${page})\n`);
    const [list = ''] = ofPage.split('\n## ');
    const listed = [...list.matchAll(/^- \[(?<title>.*)\]\(/gmu)].map((match) => match.groups?.['title']);

    expect(listed).toEqual(decisions);
  });
});
