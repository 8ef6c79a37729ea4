import { HOPS, requireFolders, type Hop } from './boxes.ts';
import { stateGraph } from './state-graph.ts';

const WIDTH = 1010;
const HOP = { x: 210, width: 450, height: 64, step: 92, top: 84 };
const SERVICE = { x: 790, width: 190 };
const STATES_TOP = HOP.top + HOPS.length * HOP.step + 76;
const HEIGHT = STATES_TOP + 330;

const STYLE = `
text{font:14px system-ui,sans-serif;fill:#1b1f24}.title{font-size:17px;font-weight:600}.folder{font:600 15px ui-monospace,monospace}.soft{fill:#57606a;font-size:13px}
.paper{fill:#fff}.box{fill:#f6f8fa;stroke:#8c959f}.edge{stroke:#57606a;stroke-width:1.6;fill:none}.move{stroke:#57606a;stroke-width:1.3;fill:none}.new{stroke-dasharray:5 4}
.tip{fill:#57606a}.word{text-anchor:middle;font-size:12.5px;paint-order:stroke;stroke:#fff;stroke-width:5px}.middle,.name{text-anchor:middle}.name{font-weight:600}
.state{fill:#fff;stroke-width:2}.good{stroke:#1a7f37}.under-way{stroke:#0969da}.open{stroke:#9a6700}.bad{stroke:#cf222e}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9da7b1}.paper,.state{fill:#0d1117}.box{fill:#161b22;stroke:#6e7681}.edge,.move{stroke:#9da7b1}.tip{fill:#9da7b1}.word{stroke:#0d1117}.good{stroke:#3fb950}.under-way{stroke:#58a6ff}.open{stroke:#d29922}.bad{stroke:#ff7b72}}
`.trim();

/** How an invoice travels, and the states it can be in: `docs/picture/data-flow.svg`. */
export function dataFlow(): string {
  requireFolders();
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title">
<title id="title">How an invoice travels through Lote, and the states it can be in</title>
<style>${STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="tip" d="M0 0 8 4 0 8Z"/></marker></defs>
<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>
${folder('input/*.csv | json | ndjson', 22)}
${HOPS.map((hop, index) => drawHop(hop, index)).join('\n')}
${folder('reports/<batch>/', HOP.top + HOPS.length * HOP.step - 4)}
${workflow()}
${service()}
<text class="title" x="30" y="${STATES_TOP - 4}">States of an invoice</text>
<g transform="translate(0 ${STATES_TOP})">
${stateGraph()}
</g>
</svg>
`;
}

function folder(name: string, y: number): string {
  const middle = HOP.x + HOP.width / 2;
  return `<rect class="box" x="${middle - 140}" y="${y}" width="280" height="34" rx="3"/>\n<text class="folder middle" x="${middle}" y="${y + 22}">${escaped(name)}</text>`;
}

function drawHop({ folder: name, does, service: passes }: Hop, index: number): string {
  const y = topOf(index);
  const middle = HOP.x + HOP.width / 2;
  const lines = does.map((line, at) => `<text class="soft" x="${HOP.x + 138}" y="${y + 27 + at * 19}">${line}</text>`);
  const way =
    passes === undefined
      ? []
      : [
          `<path class="edge" marker-${passes.direction === 'to' ? 'end' : 'start'}="url(#tip)" d="M${HOP.x + HOP.width + 2} ${y + 32}H${SERVICE.x - 3}"/>`,
        ];
  return [
    `<path class="edge" marker-end="url(#tip)" d="M${middle} ${y - HOP.step + HOP.height}V${y - 3}"/>`,
    `<rect class="box" x="${HOP.x}" y="${y}" width="${HOP.width}" height="${HOP.height}" rx="6"/>`,
    `<text class="folder" x="${HOP.x + 12}" y="${y + 37}">${name}</text>`,
    ...lines,
    ...way,
    ...(index === HOPS.length - 1
      ? [`<path class="edge" marker-end="url(#tip)" d="M${middle} ${y + HOP.height}V${y + HOP.step - 7}"/>`]
      : []),
  ].join('\n');
}

/** The workflow on the left, and which of its activities each hop is. */
function workflow(): string {
  const top = topOf(0);
  const height = topOf(HOPS.length - 1) + HOP.height - top;
  const names = HOPS.flatMap(({ activities }, index) =>
    activities.map(
      (name, at) =>
        `<text class="soft" x="42" y="${topOf(index) + 37 + (at - (activities.length - 1) / 2) * 19}">${name}</text>`,
    ),
  );
  const ways = HOPS.flatMap(({ activities }, index) =>
    activities.length === 0 ? [] : [`<path class="edge" d="M164 ${topOf(index) + 32}H${HOP.x}"/>`],
  );
  return [
    `<rect class="box" x="30" y="${top}" width="134" height="${height}" rx="6"/>`,
    `<text class="title" x="30" y="${top - 30}">Temporal</text>`,
    `<text class="soft" x="30" y="${top - 11}">invoiceBatch, invoicePage</text>`,
    ...names,
    ...ways,
  ].join('\n');
}

function service(): string {
  const meets = HOPS.flatMap((hop, index) => (hop.service === undefined ? [] : [{ ...hop.service, y: topOf(index) }]));
  const top = Math.min(...meets.map(({ y }) => y));
  const bottom = Math.max(...meets.map(({ y }) => y)) + HOP.height;
  const middle = SERVICE.x + SERVICE.width / 2;
  return [
    `<rect class="box" x="${SERVICE.x}" y="${top}" width="${SERVICE.width}" height="${bottom - top}" rx="6"/>`,
    `<text class="name" x="${middle}" y="${(top + bottom) / 2 - 2}">Electronic</text>`,
    `<text class="name" x="${middle}" y="${(top + bottom) / 2 + 17}">Invoicing Service</text>`,
    ...meets.map(
      ({ says, y, direction }) =>
        `<text class="soft middle" x="${middle}" y="${direction === 'to' ? y - 9 : y + HOP.height + 20}">${says}</text>`,
    ),
  ].join('\n');
}

function topOf(index: number): number {
  return HOP.top + index * HOP.step;
}

function escaped(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
