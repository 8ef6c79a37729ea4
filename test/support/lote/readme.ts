import { readFileSync } from 'node:fs';

const CHECKOUT = new URL('../../../', import.meta.url);

/** Reads a page of the project from the checkout. */
export function pageText(path: string): string {
  return readFileSync(new URL(path, CHECKOUT), 'utf8');
}

/** The text of README.md in the checkout. */
export const README = pageText('README.md');

/** The pages that tell users which commands to type. */
export const USER_PAGES: readonly string[] = [
  README,
  ...['configuration', 'deployment', 'files', 'operating', 'sandbox', 'service-profile'].map((name) =>
    pageText(`docs/${name}.md`),
  ),
];

/** Returns the command blocks of a page, in order: the text between ```sh and ```. */
export function shellBlocks(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```(?:sh|bash|shell|console)\n([^]*?)^```$/gmu)].map(([, block]) =>
    (block ?? '').trim(),
  );
}

/** Returns the commands of Lote in a page's text: `npx lote …`, without placeholders in capitals. */
export function namedCommands(markdown: string): readonly string[] {
  return [...markdown.matchAll(/`(?:npx )?lote ((?:[a-z]|--)[^`]*)`/gu)].map(([, words]) => words ?? '');
}

/** Returns the rows of the first table after a heading, cell by cell, without the header row. */
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
