import { Hono } from 'hono';
import { html, table, type SafeHtml } from '../../texts/html.ts';
import type { ConsoleOptions, ShownSetting } from '../console-options.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { misfitNote } from './notes.ts';
import type { PageFormat } from './page-format.ts';

/** Hides credentials that a user has written into the address. */
const CREDENTIALS = /\/\/[^/@\s]*@/u;
const LONGEST_IN_LINE = 80;

/** The service profile in force. The file is edited in an editor, with its JSON Schema. */
export function profileRoutes(options: ConsoleOptions, pages: PageAnswers): Hono {
  const { serviceProfile, profileSettings = [] } = options;
  const routes = new Hono();
  routes.get('/', async (context) => {
    const format = pages.formatOf(context);
    const { profile: title, profilePage: words, setting, value } = format.texts;
    const baseUrl = serviceProfile?.['baseUrl'];
    const address = typeof baseUrl === 'string' ? baseUrl.replace(CREDENTIALS, '//•••@') : null;
    const rows = profileSettings.map((one) => settingRow(format, one));
    const content = html`<h1>${title}</h1>
      <p>${words.intro}</p>
      ${misfitNote(format, (await options.misfits?.()) ?? [])}
      ${address === null ? '' : html`<p>${words.service} <code>${address}</code></p>`}
      ${table(title, [setting, value, words.meaning], rows, { kind: 'settings' })}`;
    return pages.show(context, { title, content });
  });
  return routes;
}

function settingRow({ texts: { profilePage } }: PageFormat, setting: ShownSetting): SafeHtml {
  const { key, words, value, default: byDefault, differs } = setting;
  const changed = html`<strong class="state under-way">${profilePage.changed}</strong>
    <div class="soft">${profilePage.byDefault} ${settingValue(byDefault)}</div>`;
  // Words are English in every language; every second part stood between backticks.
  const parts = words.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
  return html`<tr>
    <th scope="row"><code>${key}</code></th>
    <td class="value">${settingValue(value)} ${differs ? changed : ''}</td>
    <td class="text"><span lang="en">${parts}</span></td>
  </tr>`;
}

/** The JSON of a setting: in its line, or indented where it is long. */
function settingValue(json: string): SafeHtml {
  if (json.length <= LONGEST_IN_LINE) return html`<code>${json}</code>`;
  return html`<pre tabindex="0">${JSON.stringify(JSON.parse(json), null, 2)}</pre>`;
}
