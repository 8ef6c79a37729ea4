import { html } from 'hono/html';
import type { ConsoleTexts } from '../texts/console-texts.ts';
import type { Html } from '../pages/page-layout.ts';

/** Longer ones are no reasons but stories; history keeps each of them. */
export const LONGEST_REASON = 300;

/** Why somebody does it: without it nothing is done. */
export function reasonField({ reason }: ConsoleTexts['operations'], id: string): Html {
  return html`<label for="${id}">${reason}</label>
    <input id="${id}" name="reason" required maxlength="${LONGEST_REASON}" autocomplete="off" />`;
}
