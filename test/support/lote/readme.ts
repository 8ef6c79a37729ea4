import { readFileSync } from 'node:fs';

const CHECKOUT = new URL('../../../', import.meta.url);

/** A page of the project, as it stands in the checkout. */
export function pageText(path: string): string {
  return readFileSync(new URL(path, CHECKOUT), 'utf8');
}

/** README.md, as it stands in the checkout. */
export const README = pageText('README.md');

/** The pages that tell users which commands to type. */
export const USER_PAGES: readonly string[] = [
  README,
  ...['configuration', 'deployment', 'files', 'operating', 'sandbox', 'service-profile'].map((name) =>
    pageText(`docs/${name}.md`),
  ),
];

/** The command blocks of a page, in their order: what stands between ```sh and ```. */
export function shellBlocks(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```(?:sh|bash|shell|console)\n([^]*?)^```$/gmu)].map(([, block]) =>
    (block ?? '').trim(),
  );
}

/** Commands of Lote that a page names in its text: `npx lote …`, without what stands in capitals for something else. */
export function namedCommands(markdown: string): readonly string[] {
  return [...markdown.matchAll(/`(?:npx )?lote ((?:[a-z]|--)[^`]*)`/gu)].map(([, words]) => words ?? '');
}

/** Rows of the first table after a heading, cell by cell, without its head. */
export function tableAfter(markdown: string, heading: string): readonly (readonly string[])[] {
  const lines = (markdown.split(`\n${heading}\n`)[1] ?? '').split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  const table = lines.slice(first);
  const end = table.findIndex((line) => !line.startsWith('|'));
  return table.slice(2, end === -1 ? undefined : end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
