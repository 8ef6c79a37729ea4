import { html } from 'hono/html';
import type { Html } from '../page-layout.ts';

const LONGEST_IN_LINE = 80;

/** The JSON of a setting: in its line, or indented where it is long. */
export function settingValue(json: string): Html {
  if (json.length <= LONGEST_IN_LINE) return html`<code>${json}</code>`;
  return html`<pre tabindex="0">${indented(json)}</pre>`;
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
