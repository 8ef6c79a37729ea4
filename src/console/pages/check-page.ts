import { z } from 'zod';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import { proofLines } from '../../texts/outcomes/outcome-html.ts';
import type { Declared } from '../console-options.ts';
import type { FileCheck } from '../mapping/file-mapper.ts';
import { select, uploadForm, writtenAs } from '../forms/forms.ts';
import { firstFindings } from './notes.ts';
import type { PageFormat } from './page-format.ts';

const ReadWith = z.object({ profile: z.object({ sha256: z.string() }) });

export interface CheckPage {
  readonly file: string;
  readonly declared: Declared;
  readonly check: FileCheck;
  readonly known: BatchRecord | null;
  /** True if a refusal by this service does not prove that nothing was created. */
  readonly refusalsDoubted: boolean;
}

/** Renders a file before Lote sends any of it: whether Lote can send it, its problems, and how Lote read it. */
export function checkPage(format: PageFormat, page: CheckPage): SafeHtml {
  const { texts } = format;
  const { check, known, file } = page;
  return html`<h1>${texts.dryRun.title} ${baseName(file)}</h1>
    <section class="verdict ${tone(check)}">
      <p class="big"><strong>${verdict(format, check)}</strong></p>
      ${check.rowsLost === 0 ? '' : html`<p>${format.plural(texts.verdicts.rowsLeft, check.rowsLost)}</p>`}
      ${known === null ? '' : html`<p>${texts.dryRun.known} <a href="/batches/${encodeURIComponent(known.batchId)}">${known.file}</a> (${texts.batchStates[known.state]}).</p>`}
      ${readOtherwise(format, check)}
      ${isOpenLayout(check) ? html`<p>${mappingLink(format, file)}</p>` : ''}
      ${check.refused || isReadOtherwise(check) ? '' : startForm(format, page)}
    </section>
    ${check.refused ? '' : netTable(format, check)}
    ${
      check.findings.length === 0
        ? html`<h2>${texts.dryRun.findings}</h2>
            <p>${texts.dryRun.noFindings}</p>`
        : firstFindings(format, check.findings, texts.dryRun.findings)
    }
    ${check.refused || check.invalid > 0 || check.rowsLost > 0 ? html`<h2>${texts.dryRun.correctAgain}</h2>${uploadForm(format)}` : ''}
    ${isOpenLayout(check) ? '' : html`<p>${mappingLink(format, file)}</p>`}
    ${declareForm(format, page)} ${howRead(format, check.proof)} ${bodies(format, check)}`;
}

function isOpenLayout({ refused, findings }: FileCheck): boolean {
  return refused && (findings[0]?.code === 'layout-unconfirmed' || findings[0]?.code === 'header-missing');
}

function mappingLink({ texts }: PageFormat, file: string): SafeHtml {
  return html`<a class="main" href="/mapping?${new URLSearchParams({ file }).toString()}">${texts.mapping.link}</a>`;
}

function readOtherwise({ texts }: PageFormat, { readOtherwise: differences = [] }: FileCheck): SafeHtml {
  if (differences.length === 0) return html``;
  return html`<p>${texts.dryRun.readOtherwise}</p>
    <ul>
      ${differences.map((difference) => html`<li>${difference}</li>`)}
    </ul>
    <p>${texts.dryRun.readOtherwiseCure}</p>`;
}

function isReadOtherwise({ readOtherwise: differences = [] }: FileCheck): boolean {
  return differences.length > 0;
}

/** Says in one sentence whether Lote can send the invoices of a file. */
export function verdict({ texts, plural }: PageFormat, check: FileCheck): string {
  if (check.refused) return texts.dryRun.refused;
  if (isReadOtherwise(check)) return texts.dryRun.knownOtherwise;
  return check.invalid === 0
    ? plural(texts.dryRun.clean, check.invoices)
    : plural(texts.dryRun.some, check.invalid, check.invoices);
}

/** Returns the colour of the verdict. */
export function tone(check: FileCheck): string {
  if (check.refused) return 'bad';
  return check.invalid > 0 || check.rowsLost > 0 || isReadOtherwise(check) ? 'open' : 'good';
}

function startForm(format: PageFormat, { file, declared, check, refusalsDoubted }: CheckPage): SafeHtml {
  const { texts } = format;
  const valid = check.invoices - check.invalid;
  if (valid === 0) return html``;
  return html`<form action="${format.action('/start')}" method="post">
    <input type="hidden" name="file" value="${file}" />
    <input type="hidden" name="sha256" value="${check.sha256}" />
    <input type="hidden" name="checkedProfile" value="${profileOf(check)}" />
    ${Object.entries(declared).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${refusalsDoubted ? html`<label class="choice"><input type="checkbox" name="acceptDuplicateRisk" value="yes" /> ${texts.dryRun.risk}</label>` : ''}
    <button class="main">${format.plural(texts.dryRun.start, valid)}</button>
    ${check.invalid === 0 ? '' : html`<p class="soft">${texts.dryRun.startNote}</p>`}
  </form>`;
}

/** Returns the SHA-256 of the mapping profile that read the file, or an empty text if none did. */
function profileOf({ proof }: FileCheck): string {
  return ReadWith.safeParse(proof).data?.profile.sha256 ?? '';
}

/** Renders the net that Lote would issue, by currency. */
export function netTable({ texts, money }: PageFormat, { netOfValid }: FileCheck): SafeHtml {
  const currencies = Object.entries(netOfValid).sort(([a], [b]) => Number(a > b) - Number(a < b));
  if (currencies.length === 0) return html``;
  return html`<h2>${texts.dryRun.net}</h2>
    <ul class="figures">
      ${currencies.map(([currency, sum]) => html`<li><span class="figure">${money(sum)}</span> ${currency}</li>`)}
    </ul>`;
}

function bodies({ texts }: PageFormat, { firstBodies }: FileCheck): SafeHtml {
  if (firstBodies.length === 0) return html``;
  return html`<details>
    <summary>${texts.dryRun.firstBodies}</summary>
    <p class="soft">${texts.dryRun.firstBodiesNote}</p>
    ${firstBodies.map((body) => html`<pre tabindex="0">${body}</pre>`)}
  </details>`;
}

const Header = z.array(z.object({ column: z.string(), header: z.string() })).catch([]);

/** Renders how Lote read the file, with the proof. Shows columns only if the file has its own words: a table of equal pairs says nothing. */
function howRead(format: PageFormat, proof: Readonly<Record<string, unknown>>): SafeHtml {
  const { dryRun, mapping } = format.texts;
  const columns = Header.parse(proof['header']);
  const rows = columns.map(
    ({ column, header }) =>
      html`<tr>
        <th scope="row"><code>${column}</code></th>
        <td>${header}</td>
      </tr>`,
  );
  return html`<h2>${dryRun.howRead}</h2>
    ${proofLines(proof, format)}
    ${columns.every(({ column, header }) => column === header) ? '' : table(mapping.column, [mapping.meaning, mapping.column], rows)}
    <details>
      <summary>${dryRun.proof}</summary>
      <pre tabindex="0">${JSON.stringify(proof, null, 2)}</pre>
    </details>`;
}

/** Returns the name of a file without its folder. */
export function baseName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** Renders a form for a file that does not prove how it is written: it repeats the check with the operator's knowledge. */
function declareForm(format: PageFormat, { file, declared }: CheckPage): SafeHtml {
  const { dryRun, mapping } = format.texts;
  const open = Object.keys(declared).length > 0;
  return html`<details ${open ? 'open' : ''}>
    <summary>${dryRun.declare}</summary>
    <form action="/check" class="fields">
      <input type="hidden" name="file" value="${file}" />
      ${declared.profile === undefined ? '' : html`<input type="hidden" name="profile" value="${declared.profile}" />`}
      <p class="soft">${dryRun.declareNote}</p>
      ${writtenAs(format, 'decimal', declared.decimal)} ${writtenAs(format, 'encoding', declared.encoding)}
      <label
        >${mapping.sheet}
        <input name="sheet" maxlength="200" value="${declared.sheet ?? ''}"
      /></label>
      ${select({
        name: 'duplicateRows',
        label: dryRun.duplicateRows,
        chosen: declared.duplicateRows,
        none: dryRun.refuseDuplicates,
        choices: [['keep', dryRun.keepDuplicates]],
      })}
      ${select({
        name: 'lookAlikes',
        label: dryRun.lookAlikes,
        chosen: declared.lookAlikes,
        none: dryRun.refuseDuplicates,
        choices: [['keep', dryRun.keepLookAlikes]],
      })}
      <button>${dryRun.again}</button>
    </form>
  </details>`;
}
