import { html } from 'hono/html';
import type { RecordedAnswers, RecordedValue, ShownSection, ShownSetting } from '../../profile-editor.ts';
import type { ProfileSectionName } from '../../texts/profile-texts.ts';
import type { PageFormat } from '../page-format.ts';
import type { Html } from '../page-layout.ts';
import { settingValue } from './setting-value.ts';

/** One section of the profile in force: each setting with its words, and what the last recorded answer holds there. */
export function sectionTable(
  format: PageFormat,
  { name, words, settings }: ShownSection,
  /** Null: nothing is recorded. */
  recorded: RecordedAnswers['byKey'] | null,
): Html {
  const { texts } = format;
  const { profilePage } = texts;
  const title = sectionTitle(texts, name);
  const readAnywhere = recorded !== null && settings.some(({ key }) => recorded.has(key));
  return html`<section aria-labelledby="section-${name}">
    <h2 id="section-${name}">${title} <code class="soft">${name === 'general' ? '' : name}</code></h2>
    ${words === '' ? '' : html`<p class="soft">${settingWords(words)}</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table class="settings">
        <thead>
          <tr>
            <th scope="col">${texts.setting}</th>
            <th scope="col">${texts.value}</th>
            <th scope="col">${profilePage.meaning}</th>
            ${readAnywhere ? html`<th scope="col">${profilePage.lastAnswer}</th>` : ''}
          </tr>
        </thead>
        <tbody>
          ${settings.map(
            (setting) =>
              html`<tr>
                <th scope="row"><code>${setting.key}</code></th>
                <td class="value">${valueCell(profilePage, setting)}</td>
                <td class="text">${meaningCell(profilePage, setting)}</td>
                ${readAnywhere ? html`<td class="value">${recordedCell(format, recorded.get(setting.key))}</td>` : ''}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** The heading of a section. */
export function sectionTitle({ profilePage: { sections } }: PageFormat['texts'], name: string): string {
  return Object.hasOwn(sections, name) ? sections[name as ProfileSectionName] : name;
}

type Texts = PageFormat['texts']['profilePage'];

function valueCell(texts: Texts, { value, differs, default: byDefault }: ShownSetting): Html {
  if (!differs) return settingValue(value);
  return html`${settingValue(value)} <strong class="state under-way">${texts.changed}</strong>
    <div class="soft">${texts.byDefault} ${settingValue(byDefault)}</div>`;
}

function meaningCell(texts: Texts, { words, example, parts }: ShownSetting): Html {
  return html`${settingWords(words)}
  ${
    example === null
      ? ''
      : html`<div class="soft">
          ${texts.example} <code>${example.text}</code> ${example.kind === 'text' ? texts.wholeBody : ''}
        </div>`
  }
  ${
    parts.length === 0
      ? ''
      : html`<details>
          <summary>${texts.parts}</summary>
          <dl>
            ${parts.map(
              (part) =>
                html`<dt><code>${part.key}</code></dt>
                  <dd>${settingWords(part.words)}</dd>`,
            )}
          </dl>
        </details>`
  }`;
}

/** What a setting means: English in every language, with the parts between backticks as code. */
function settingWords(words: string): Html {
  const parts = words.split('`');
  return html`<span lang="en">${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}</span>`;
}

function recordedCell({ texts: { profilePage }, time }: PageFormat, found: RecordedValue | undefined): Html {
  if (found === undefined) return html``;
  const { value, record, at } = found;
  return html`${value === null ? html`<strong>${profilePage.nothingThere}</strong>` : html`<code>${value}</code>`}
    <div class="soft">${record} · ${time(at)}</div>`;
}
