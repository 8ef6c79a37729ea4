import { html } from 'hono/html';
import { z } from 'zod';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { findingsTable } from './batch-tables.ts';
import type { Declared } from '../console-options.ts';
import type { FileCheck } from '../file-check.ts';
import { declareForm } from '../forms/declare-form.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';
import { proofList } from './proof-list.ts';
import { uploadForm } from '../forms/upload-form.ts';

const ReadWith = z.object({ profile: z.object({ sha256: z.string() }) });

export interface CheckPage {
  /** Relative to the input directory. */
  readonly file: string;
  readonly declared: Declared;
  readonly check: FileCheck;
  /** The batch that these bytes had before. */
  readonly known: BatchRecord | null;
  /** Address of the start form in the Temporal UI. */
  readonly temporalStart: string | null;
  /** At this service a refusal does not prove that nothing was created. */
  readonly refusalsDoubted: boolean;
}

/** What a file says before anything of it is sent: can it go, what is wrong, how it was read. */
export function checkPage(format: PageFormat, page: CheckPage): Html {
  const { texts } = format;
  const { check, known, file } = page;
  return html`<h1>${texts.dryRun.title} ${baseName(file)}</h1>
    <section class="verdict ${tone(check)}">
      <p class="big"><strong>${verdict(format, check)}</strong></p>
      ${check.rowsLost === 0 ? '' : html`<p>${format.plural(texts.dryRun.rowsLeft, check.rowsLost)}</p>`}
      ${known === null ? '' : html`<p>${texts.dryRun.known} <a href="/batches/${encodeURIComponent(known.batchId)}">${known.file}</a> (${texts.batchStates[known.state]}).</p>`}
      ${readOtherwise(format, check)}
      ${check.refused || isReadOtherwise(check) ? '' : startForm(format, page)}
    </section>
    ${check.refused ? '' : netTable(format, check)}
    ${
      check.findings.length === 0
        ? html`<h2>${texts.dryRun.findings}</h2>
            <p>${texts.dryRun.noFindings}</p>`
        : findingsTable(format, check.findings, texts.dryRun.findings)
    }
    ${check.refused || check.invalid > 0 || check.rowsLost > 0 ? html`<h2>${check.invoices > check.invalid ? texts.dryRun.correctFirst : texts.dryRun.correctAgain}</h2>${uploadForm(format)}` : ''}
    <p><a href="/mapping?${new URLSearchParams({ file }).toString()}">${texts.mapping.link}</a></p>
    ${declareForm(format, page)} ${proofList(format, check.proof)} ${bodies(format, check)}`;
}

/** Why a start would send nothing more of a file that was started before. */
function readOtherwise({ texts }: PageFormat, { readOtherwise: differences = [] }: FileCheck): Html {
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

/** Whether the invoices of a file can be sent, in one sentence. */
export function verdict({ texts, plural }: PageFormat, check: FileCheck): string {
  if (check.refused) return texts.dryRun.refused;
  if (isReadOtherwise(check)) return texts.dryRun.knownOtherwise;
  return check.invalid === 0
    ? plural(texts.dryRun.clean, check.invoices)
    : plural(texts.dryRun.some, check.invalid, check.invoices);
}

/** The colour of that. */
export function tone(check: FileCheck): string {
  if (check.refused) return 'bad';
  return check.invalid > 0 || check.rowsLost > 0 || isReadOtherwise(check) ? 'open' : 'good';
}

function startForm(format: PageFormat, { file, declared, check, temporalStart, refusalsDoubted }: CheckPage): Html {
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
    ${
      temporalStart === null
        ? ''
        : html`<p class="soft">
            <a href="${temporalStart}">${texts.startInTemporal}</a> ${texts.inputFor}
            <code>${JSON.stringify({ file, ...declared })}</code>
          </p>`
    }
  </form>`;
}

/** SHA-256 of the mapping profile with which it was read; empty: without one. */
function profileOf({ proof }: FileCheck): string {
  return ReadWith.safeParse(proof).data?.profile.sha256 ?? '';
}

/** What would be issued, by currency. */
export function netTable({ texts, money }: PageFormat, { net }: FileCheck): Html {
  const currencies = Object.entries(net).sort(([a], [b]) => Number(a > b) - Number(a < b));
  return html`<h2>${texts.dryRun.net}</h2>
    <ul class="figures">
      ${currencies.length === 0 ? html`<li>${texts.dryRun.noneOfNet}</li>` : ''}
      ${currencies.map(([currency, sum]) => html`<li><span class="figure">${money(sum)}</span> ${currency}</li>`)}
    </ul>`;
}

function bodies({ texts }: PageFormat, { firstBodies }: FileCheck): Html {
  if (firstBodies.length === 0) return html``;
  return html`<details>
    <summary>${texts.dryRun.firstBodies}</summary>
    <p class="soft">${texts.dryRun.firstBodiesNote}</p>
    ${firstBodies.map((body) => html`<pre tabindex="0">${body}</pre>`)}
  </details>`;
}

/** The file's own name. */
export function baseName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}
