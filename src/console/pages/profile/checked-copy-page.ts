import { html } from 'hono/html';
import type { CheckedCopy, CopyMistake, KeepRefusal, ReplayComparison } from '../../profile-editor.ts';
import type { PageFormat } from '../page-format.ts';
import type { Html } from '../page-layout.ts';
import { copyForm, type KeepFields } from './copy-form.ts';
import { settingValue } from './setting-value.ts';

/** An edited copy and what was found in it. */
export interface CheckedCopyPage {
  readonly text: string;
  readonly checked: CheckedCopy;
  /** Why it was not kept; null: it was to be checked alone. */
  readonly refused: KeepRefusal | null;
  readonly keep: Pick<KeepFields, 'name' | 'here'>;
}

/** More lines are not read at once, and the next check shows what is left. */
const MISTAKES_SHOWN = 100;
const LONGEST_LINE = 120;

const TONES = { same: 'under-way', better: 'good', worse: 'bad', other: 'open' } as const;

/** What is wrong with an edited copy, or what it would change. */
export function checkedCopyPage(format: PageFormat, page: CheckedCopyPage): Html {
  const { texts, plural } = format;
  const { checked, text, refused } = page;
  const { mistakes, differences, replay } = checked;
  const sound = mistakes.length === 0;
  const understandsLess = replay?.understandsLess === true;
  return html`<p><a href="/profile">← ${texts.profilePage.back}</a></p>
    <h1>${texts.profilePage.checkTitle}</h1>
    <section class="verdict ${sound ? (understandsLess ? 'open' : 'good') : 'bad'}" role="status">
      ${refused === null ? '' : html`<p><strong>${texts.profilePage.refusals[refused]}</strong></p>`}
      <p class="big">
        <strong>${sound ? texts.profilePage.valid : plural(texts.profilePage.mistakes, mistakes.length)}</strong>
      </p>
      ${sound ? html`<p>${differences.length === 0 ? texts.profilePage.same : plural(texts.profilePage.differs, differences.length)}</p>` : ''}
      ${understandsLess ? html`<p>${texts.profilePage.understandsLess}</p>` : ''}
    </section>
    ${sound ? '' : mistakesTable(format, mistakes, text.split('\n'))}
    ${differences.length === 0 ? '' : differencesTable(format, differences)}
    ${replay === null ? '' : replayTable(format, replay)} ${sound && replay === null ? html`<p>${texts.profilePage.nothingRecorded}</p>` : ''}
    <section class="card" aria-labelledby="edit-title">
      <h2 id="edit-title">${texts.profilePage.edit}</h2>
      ${copyForm(format, { text, keep: sound ? { ...page.keep, understandsLess } : null })}
    </section>`;
}

function mistakesTable(
  { texts, plural }: PageFormat,
  mistakes: readonly CopyMistake[],
  lines: readonly string[],
): Html {
  const { profilePage } = texts;
  const more = mistakes.length - MISTAKES_SHOWN;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${profilePage.wrong}">
      <table>
        <thead>
          <tr>
            <th scope="col" class="number">${profilePage.line}</th>
            <th scope="col" class="number">${texts.column}</th>
            <th scope="col">${texts.setting}</th>
            <th scope="col">${profilePage.wrong}</th>
            <th scope="col">${profilePage.meant}</th>
          </tr>
        </thead>
        <tbody>
          ${mistakes.slice(0, MISTAKES_SHOWN).map(
            ({ line, column, setting, message, suggestion }) =>
              html`<tr>
                <td class="number">${line ?? ''}</td>
                <td class="number">${column ?? ''}</td>
                <th scope="row"><code>${setting}</code></th>
                <td class="text">
                  <span lang="en">${message}</span>
                  ${line === null ? '' : html`<div class="soft"><code>${lineOf(lines, line)}</code></div>`}
                </td>
                <td>${suggestion === null ? '' : html`<code>${suggestion}</code>`}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${more > 0 ? html`<p class="soft">${plural(profilePage.moreMistakes, more)}</p>` : ''}`;
}

function lineOf(lines: readonly string[], line: number): string {
  const text = (lines[line - 1] ?? '').trim();
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text;
}

function differencesTable({ texts, plural }: PageFormat, differences: CheckedCopy['differences']): Html {
  const title = plural(texts.profilePage.differs, differences.length);
  return html`<h2>${title}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.setting}</th>
            <th scope="col">${texts.profilePage.inForce}</th>
            <th scope="col">${texts.profilePage.copy}</th>
          </tr>
        </thead>
        <tbody>
          ${differences.map(
            ({ key, inForce, copy }) =>
              html`<tr>
                <th scope="row"><code>${key}</code></th>
                <td class="value">${settingValue(inForce)}</td>
                <td class="value">${settingValue(copy)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function replayTable({ texts: { profilePage: texts } }: PageFormat, { rows }: ReplayComparison): Html {
  return html`<h2>${texts.replay}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.replay}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.answers}</th>
            <th scope="col">${texts.inForce}</th>
            <th scope="col">${texts.copy}</th>
            <th scope="col">${texts.change}</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ what, inForce, copy, change }) =>
              html`<tr>
                <th scope="row">${what}</th>
                <td class="text" lang="en">${inForce}</td>
                <td class="text" lang="en">${copy}</td>
                <td><span class="state ${TONES[change]}">${texts.changes[change]}</span></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
