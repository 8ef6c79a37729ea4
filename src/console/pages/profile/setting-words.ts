import { html } from 'hono/html';
import type { Html } from '../page-layout.ts';

/** What a setting means: English in every language, with the parts between backticks as code. */
export function settingWords(words: string): Html {
  const parts = words.split('`');
  return html`<span lang="en">${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}</span>`;
}
