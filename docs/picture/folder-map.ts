import { ENTRY_POINTS, folderImports, type FolderImport } from './folder-imports.ts';

interface Box {
  readonly x: number;
  readonly width: number;
  /** 0 is the top; imports lead downwards, or sideways within a layer. */
  readonly layer: number;
  readonly does: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const WIDTH = 1310;
const LAYER = { top: 46, step: 92, height: 46 };
const LAYERS = 9;
const HEIGHT = LAYER.top + LAYERS * LAYER.step - 16;
/** A line needs this much room beside a box. */
const LANE = 20;
/** Lines of `cli` and of `wiring` to the same box stand this far from its middle. */
const APART = 11;
/** It spans the picture, so that the lines of `cli` pass behind it. */
const BAR = 'wiring';
/** Lines to `domain` pass behind the texts, too: whoever imports them imports both. */
const PASSED_BEHIND: ReadonlySet<string> = new Set([BAR, 'texts']);

/** Where each folder stands. A folder without a place stops the picture, as does an import that leads upwards. */
const PLACES: Readonly<Record<string, Box>> = {
  [ENTRY_POINTS]: { x: 1004, width: 180, layer: 0, does: 'worker.ts, receiver.ts, …' },
  cli: { x: 20, width: 1120, layer: 1, does: 'one command a file; options, output, exit codes' },
  wiring: { x: 20, width: 1270, layer: 2, does: 'puts the parts together; the only folder that knows all of them' },
  telemetry: { x: 1204, width: 86, layer: 3, does: 'observers' },
  console: { x: 618, width: 60, layer: 3, does: 'web pages' },
  ingest: { x: 682, width: 70, layer: 3, does: 'files in' },
  service: { x: 384, width: 86, layer: 3, does: 'HTTP client' },
  webhooks: { x: 494, width: 118, layer: 3, does: 'deliveries' },
  ledger: { x: 762, width: 70, layer: 3, does: 'database' },
  drop: { x: 842, width: 70, layer: 3, does: 'inbox' },
  report: { x: 936, width: 74, layer: 3, does: 'reports out' },
  sandbox: { x: 1104, width: 80, layer: 3, does: 'simulator' },
  'workflows/': { x: 60, width: 110, layer: 4, does: 'order, waiting' },
  'activities/': { x: 250, width: 110, layer: 4, does: 'each step' },
  contract: { x: 130, width: 170, layer: 5, does: 'their messages' },
  concurrency: { x: 326, width: 96, layer: 6, does: 'at a time' },
  'service-profile': { x: 442, width: 128, layer: 6, does: 'how it speaks' },
  network: { x: 590, width: 62, layer: 6, does: 'listening' },
  'file-system': { x: 866, width: 120, layer: 6, does: 'folders' },
  runtime: { x: 1014, width: 80, layer: 6, does: 'process' },
  texts: { x: 20, width: 1140, layer: 7, does: 'languages, numbers and dates for people' },
  domain: {
    x: 20,
    width: 1270,
    layer: 8,
    does: 'invoices, states, money, identity, ports: pure, imported by every folder but sandbox',
  },
};

const STYLE = `
text{font:14px system-ui,sans-serif;fill:#1b1f24;text-anchor:middle}.left{text-anchor:start}.folder{font:600 14px ui-monospace,monospace}.soft{fill:#57606a;font-size:12px}
.paper{fill:#fff}.box{fill:#f6f8fa;stroke:#8c959f}.line{stroke:#6e7781;stroke-width:1.4;fill:none}.cli{stroke:#0969da}.types{stroke-dasharray:5 4}.tip{fill:#6e7781}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9da7b1}.paper{fill:#0d1117}.box{fill:#161b22;stroke:#6e7681}.line{stroke:#9da7b1}.cli{stroke:#58a6ff}.tip{fill:#9da7b1}}
`.trim();

/** The folders of the product and which of them imports which: `docs/picture/folders.svg`. */
export function folderMap(imports: readonly FolderImport[] = folderImports()): string {
  const lines = imports.map((one) => line(one, imports));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title">
<title id="title">The folders of Lote and their imports, which lead downwards</title>
<style>${STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0 8 4 0 8Z"/></marker></defs>
<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>
<text class="soft left" x="20" y="26">An arrow leads from a folder to a folder that it imports. Dashed: types only. Blue: from cli.</text>
<text class="soft left" x="20" y="44">A name without a slash is a folder of src/.</text>
${lines.join('\n')}
${Object.entries(PLACES).map(box).join('\n')}
</svg>
`;
}

function box([name, { x, width, layer, does }]: readonly [string, Box]): string {
  const y = top(layer);
  const middle = x + width / 2;
  return [
    `<rect class="box" x="${x}" y="${y}" width="${width}" height="${LAYER.height}" rx="6"/>`,
    `<text class="folder" x="${middle}" y="${y + 20}">${name}</text>`,
    `<text class="soft" x="${middle}" y="${y + 37}">${does}</text>`,
  ].join('\n');
}

function line({ from, to, typesOnly }: FolderImport, imports: readonly FolderImport[]): string {
  const [source, target] = [place(from), place(to)];
  const look = `class="line${from === 'cli' ? ' cli' : ''}${typesOnly ? ' types' : ''}" marker-end="url(#tip)"`;
  if (source.layer > target.layer)
    throw new Error(`Cannot draw the folders: ${from} imports ${to}, which stands above it`);
  if (source.layer === target.layer) return `<path ${look} d="${sideways(source, target)}"/>`;
  const x = lane(source, target);
  if (x === null) throw new Error(`Cannot draw the folders: there is no free way from ${from} down to ${to}`);
  const isShared = imports.some(
    (other) => other.to === to && (other.from === 'cli' || other.from === BAR) && other.from !== from,
  );
  const shift = !isShared ? 0 : from === 'cli' ? -APART : from === BAR ? APART : 0;
  return `<path ${look} d="M${x + shift} ${top(source.layer) + LAYER.height}V${top(target.layer) - 1}"/>`;
}

function place(name: string): Box {
  const found = PLACES[name];
  if (found === undefined)
    throw new Error(`Cannot draw the folders: ${name} has no place in docs/picture/folder-map.ts`);
  return found;
}

function sideways(source: Box, target: Box): string {
  const y = top(source.layer) + LAYER.height / 2;
  return source.x < target.x
    ? `M${source.x + source.width} ${y}H${target.x - 1}`
    : `M${source.x} ${y}H${target.x + target.width + 1}`;
}

/** Where a vertical line meets no other box: at the middle of the narrower box if it can, else in the first free gap. */
function lane(source: Box, target: Box): number | null {
  const narrow = source.width < target.width ? source : target;
  const free = freeSpans(source, target).filter(({ start, end }) => end - start >= LANE);
  const middle = narrow.x + narrow.width / 2;
  const here = free.find(({ start, end }) => start + LANE / 2 <= middle && middle <= end - LANE / 2) ?? null;
  const gap = free[0];
  if (gap === undefined) return null;
  return here === null ? (gap.start + gap.end) / 2 : middle;
}

function freeSpans(source: Box, target: Box): readonly Span[] {
  const shared = {
    start: Math.max(source.x, target.x),
    end: Math.min(source.x + source.width, target.x + target.width),
  };
  const between = Object.entries(PLACES)
    .filter(([name, { layer }]) => !PASSED_BEHIND.has(name) && layer > source.layer && layer < target.layer)
    .map(([, { x, width }]) => ({ start: x, end: x + width }))
    .toSorted((a, b) => a.start - b.start);
  const spans: Span[] = [];
  let start = shared.start;
  for (const blocked of between) {
    spans.push({ start, end: Math.min(blocked.start, shared.end) });
    start = Math.max(start, blocked.end);
  }
  return [...spans, { start, end: shared.end }];
}

function top(layer: number): number {
  return LAYER.top + layer * LAYER.step + 14;
}
