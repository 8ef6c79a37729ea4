import { html } from 'hono/html';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

/** The service profile in force; it holds shapes and limits, no secrets. */
export function profilePage({ texts }: PageFormat, profile: Readonly<Record<string, unknown>>): Html {
  return html`<h1>${texts.profile}</h1>
    <p>${texts.profileIntro}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.profile}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.setting}</th>
            <th scope="col">${texts.value}</th>
          </tr>
        </thead>
        <tbody>
          ${settings('', profile).map(
            ([name, value]) =>
              html`<tr>
                <th scope="row"><code>${name}</code></th>
                <td class="text"><code>${value}</code></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

/** Whoever writes a secret into an address where none belongs must not find it on a page. */
const CREDENTIALS = /\/\/[^/@\s]*@/u;

function settings(prefix: string, value: unknown): readonly (readonly [name: string, value: string])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [[prefix, JSON.stringify(value).replace(CREDENTIALS, '//•••@')]];
  return Object.entries(value).flatMap(([name, entry]) => settings(prefix === '' ? name : `${prefix}.${name}`, entry));
}
