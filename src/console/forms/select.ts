import { html } from 'hono/html';
import type { Html } from '../pages/page-layout.ts';

/** A choice of a form. */
export interface Select {
  readonly name: string;
  readonly label: string;
  readonly chosen: string | undefined;
  /** Text of the choice that declares nothing; left out: something is always chosen. */
  readonly none?: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
}

/** A choice with its label. */
export function select({ name, label, chosen, none, choices }: Select): Html {
  return html`<label
    >${label}
    <select name="${name}">
      ${none === undefined ? '' : html`<option value="">${none}</option>`}
      ${choices.map(([value, text]) => html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${text}</option>`)}
    </select></label
  >`;
}
