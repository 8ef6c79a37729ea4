import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import type { FileShortfall } from '../../domain/batch-outcomes.ts';
import { everyCountByOutcome, settledCount } from '../../domain/outcome-counts.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import { html, table, type Row, type SafeHtml } from '../../texts/html.ts';
import { doubtSentence, stateBar } from '../../texts/outcomes/outcome-html.ts';
import type { ConsoleOptions, HealthCheck, ShownSetting } from '../console-options.ts';
import type { PageAnswers, PageFormat } from '../http/page-answers.ts';
import { batchAddress, batchTone, isLive, misfitNote, type NotOut, notOutOf, uploadForm } from '../pages/page-parts.ts';
import { actionsFor } from '../http/people.ts';
import { type ReadBatch, readBatches } from '../operations.ts';

/** A person does not read a longer page, and finds older batches by their address. */
const BATCHES_SHOWN = 100;

/** Serves the pages that are not about a single batch: all batches, and the installation's health. */
export function overviewRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { ledger, actions } = options;
  const routes = new Hono();

  const home = pages.page(async (context, format) => {
    const batches = await readBatches(ledger, await ledger.listBatches(BATCHES_SHOWN));
    const { texts } = format;
    const start = html`<h1>${texts.upload.title}</h1>
      ${uploadForm(format)}
      <h2>${texts.batches}</h2>`;
    const onlyShows = actions === undefined ? html`<p class="done">${texts.withoutTemporal}</p>` : '';
    const head = actionsFor(context, actions) === undefined ? html`<h1>${texts.batches}</h1>${onlyShows}` : start;
    const content = html`${head}
    ${batches.length === 0 ? html`<p>${texts.noBatches}</p>` : batchTable(format, batches)}`;
    return { title: texts.batches, content, live: batches.some(isLive) };
  });

  const health = pages.page(async (_, format) => {
    const checks = await healthChecks(options);
    const status = checks.some(({ state }) => state === 'trouble') ? 503 : 200;
    return { title: format.texts.health, content: healthPage(format, checks), status };
  });

  const profile = pages.page(async (_, format) => {
    const misfits = (await options.misfits?.()) ?? [];
    return { title: format.texts.profile, content: profilePage(format, options, misfits) };
  });

  return routes.get('/', home).get('/health', health).get('/profile', profile);
}

function batchTable(format: PageFormat, batches: readonly ReadBatch[]): SafeHtml {
  const { texts } = format;
  const { file, state, invoices } = texts.heads;
  const columns = [
    ...[{ text: file }, state, texts.problems, { number: invoices }, texts.progress],
    { time: texts.started },
  ];
  const rows = batches.map((entry) => batchRow(format, entry));
  return table(texts.batches, columns, rows);
}

function batchRow(format: PageFormat, batch: ReadBatch): Row {
  const { texts, count, time } = format;
  const counts = { ...everyCountByOutcome([]), ...batch.counts };
  const notOut = notOutOf(batch, counts);
  return [
    html`<a href="${batchAddress(batch.batchId)}">${batch.file}</a>`,
    html`<span class="state ${batchTone(batch, notOut, batch)}">${texts.batchStates[batch.state]}</span>`,
    batch.state === 'refused' ? texts.verdicts.refused : whatIsOpen(format, notOut, batch),
    count(batch.invoices),
    html`${stateBar(counts)}<span class="soft">${count(settledCount(counts))} / ${count(batch.invoices)}</span>`,
    time(batch.startedAt),
  ];
}

/** Always names issued invoices in doubt; then only the first of: invoices that need a person, a problem of the file, invoices on their way. */
function whatIsOpen(format: PageFormat, { problems, underWay }: NotOut, shortfall: FileShortfall): SafeHtml {
  const { texts, plural } = format;
  const { needAttention, stillUnderWay, verdicts } = texts;
  const { rowsLost, totalsDiffer } = shortfall;
  const others = [
    ...(problems > 0 ? [plural(needAttention, problems)] : []),
    ...(totalsDiffer === null ? [] : [verdicts.totalsDiffer]),
    ...(rowsLost > 0 ? [plural(verdicts.rowsLeft, rowsLost)] : []),
    ...(underWay > 0 ? [plural(stillUnderWay, underWay)] : []),
  ];
  const open = [...doubtSentence(format, shortfall), ...others.slice(0, 1)];
  return open.length === 0 ? html`<span class="soft">${texts.nothingOpen}</span>` : html`${open.join(' ')}`;
}

/** Matches credentials that a user has written into the address, to hide them. */
const CREDENTIALS = /\/\/[^/@\s]*@/u;
const LONGEST_IN_LINE = 80;

/** Renders the service profile in force. An operator edits the file in an editor, with its JSON Schema. */
function profilePage(
  format: PageFormat,
  { serviceProfile, profileSettings = [] }: ConsoleOptions,
  misfits: readonly ProfileMisfit[],
): SafeHtml {
  const { profile: title, profilePage: words, setting, value } = format.texts;
  const baseUrl = serviceProfile?.['baseUrl'];
  const address = typeof baseUrl === 'string' ? baseUrl.replace(CREDENTIALS, '//•••@') : null;
  const rows = profileSettings.map((one) => settingRow(format, one));
  return html`<h1>${title}</h1>
    <p>${words.intro}</p>
    ${misfitNote(format, misfits)} ${address === null ? '' : html`<p>${words.service} <code>${address}</code></p>`}
    ${table(title, [{ row: setting }, { value }, { text: words.meaning }], rows)}`;
}

function settingRow({ texts: { profilePage } }: PageFormat, setting: ShownSetting): Row {
  const { key, words, value, default: byDefault, differs } = setting;
  const changed = html`<strong class="state under-way">${profilePage.changed}</strong>
    <div class="soft">${profilePage.byDefault} ${settingValue(byDefault)}</div>`;
  // The words are English in every language; every second part stood between backticks.
  const parts = words.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
  return [
    html`<code>${key}</code>`,
    html`${settingValue(value)} ${differs ? changed : ''}`,
    html`<span lang="en">${parts}</span>`,
  ];
}

/** Renders the JSON of a setting: in one line, or indented if it is long. */
function settingValue(json: string): SafeHtml {
  if (json.length <= LONGEST_IN_LINE) return html`<code>${json}</code>`;
  return html`<pre tabindex="0">${JSON.stringify(JSON.parse(json), null, 2)}</pre>`;
}

const LEDGER_PATIENCE_MS = 3_000;

const PROFILE = 'service profile';

const TONES = { ok: 'good', trouble: 'bad', unknown: 'open' } as const;

const AWAY = 'The ledger does not answer. Look at the log of the process that owns it.';
const NOT_MADE = 'The other checks could not be made. Look at the log of the process.';

/** Returns the console's check of the ledger, and the checks that the process supplies. Never throws. */
export async function healthChecks({
  ledger,
  health = async () => [],
}: Pick<ConsoleOptions, 'ledger' | 'health'>): Promise<readonly HealthCheck[]> {
  const others = health().catch(() => [{ name: 'health', state: 'unknown', detail: NOT_MADE } as const]);
  const own = ledgerCheck(ledger).catch(() => ({ name: 'ledger', state: 'trouble', detail: AWAY }) as const);
  return [await own, ...(await others)];
}

async function ledgerCheck(ledger: ConsoleOptions['ledger']): Promise<HealthCheck> {
  const { unknownIds } = await Promise.race([ledger.deliveryTrouble(0), tooLate()]);
  const detail = `id ${ledger.id}; ${unknownIds} webhooks wait for an invoice that the ledger does not know yet`;
  return { name: 'ledger', state: 'ok', detail };
}

/** Rejects after a limit, because a query to an unreachable database may hang for as long as its driver waits. */
async function tooLate(): Promise<never> {
  await sleep(LEDGER_PATIENCE_MS, undefined, { ref: false });
  throw new Error('the ledger did not answer in time');
}

function healthPage({ texts, time }: PageFormat, checks: readonly HealthCheck[]): SafeHtml {
  const rows = checks.map(({ name, state, detail, at }) => [
    name === PROFILE ? html`<a href="/profile">${name}</a>` : name,
    html`<span class="state ${TONES[state]}">${texts.healthStates[state]}</span>`,
    html`${at === undefined ? '' : time(at)} ${detail}`,
  ]);
  return html`<h1>${texts.health}</h1>
    ${table(texts.health, [{ row: texts.check }, texts.result, { text: texts.healthDetail }], rows)}`;
}
