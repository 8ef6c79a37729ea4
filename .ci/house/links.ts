import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A page: its path from the checkout, and its text. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

const CODE = /^(`{3,}|~{3,})[^]*?^\1|(`+)(?!`)[^]*?[^`]\2(?!`)/gmu;
const LINK = /!?\[(?:[^\][]|\[[^\]]*\]\([^)]*\))*\]\(\s*<?([^)\s>]*)>?(?:\s+"[^"]*")?\s*\)/gu;
const ELSEWHERE = /^(?:[a-z][a-z+.-]*:|\/\/)/iu;

/** The Markdown pages of the checkout: those at its top and everything under docs. */
export function markdownPages(root: string): readonly Page[] {
  const top = readdirSync(root);
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
  return [...top, ...docs]
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Links and images that lead nowhere, each as a sentence; addresses of other hosts are not asked. */
export function brokenLinks(root: string, pages: readonly Page[]): readonly string[] {
  return pages.flatMap((page) =>
    targetsOf(page.text)
      .map((target) => ({ target, why: whyBroken(root, page, target) }))
      .filter(({ why }) => why !== null)
      .map(({ target, why }) => `${page.path}: the link to ${target} leads nowhere: ${why ?? ''}`),
  );
}

/** Where the links and images of a page lead; what stands in code is no link. */
function targetsOf(text: string): readonly string[] {
  const prose = text.replace(CODE, '`code`');
  return [...prose.matchAll(LINK)].flatMap(([whole, target = '']) => [
    target,
    // A picture may be the text of a link.
    ...[...whole.slice(2).matchAll(/\[[^\][]*\]\(([^)\s]*)[^)]*\)/gu)].map(([, inner = '']) => inner),
  ]);
}

/** The anchors of a page's headings, as GitHub makes them: a second heading of the same words gets `-1`. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const headings = text.replace(/^(`{3,}|~{3,})[^]*?^\1/gmu, '').matchAll(/^#{1,6} +(.+?) *#*$/gmu);
  for (const [, heading = ''] of headings) {
    const words = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, '$1');
    const slug = words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${slug}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}

function whyBroken(root: string, page: Page, target: string): string | null {
  if (ELSEWHERE.test(target)) return null;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page.path : join(dirname(page.path), decodeURIComponent(path));
  if (file.startsWith('..')) return 'it leaves the repository';
  if (!existsSync(join(root, file))) return `there is no ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return null;
  const text = file === page.path ? page.text : readFileSync(join(root, file), 'utf8');
  return anchorsOf(text).has(anchor) ? null : `${file} has no heading "#${anchor}"`;
}
