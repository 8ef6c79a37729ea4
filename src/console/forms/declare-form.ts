import { html } from 'hono/html';
import type { Declared } from '../console-options.ts';
import { ENCODINGS } from './declared.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';

export interface DeclareForm {
  readonly file: string;
  readonly declared: Declared;
}

/** For a file that does not prove how it is written: the check again, with what the operator knows. */
export function declareForm({ texts: { dryRun } }: PageFormat, { file, declared }: DeclareForm): Html {
  const open = Object.keys(declared).length > 0;
  return html`<details ${open ? 'open' : ''}>
    <summary>${dryRun.declare}</summary>
    <form action="/check" class="fields">
      <input type="hidden" name="file" value="${file}" />
      <p class="soft">${dryRun.declareNote}</p>
      ${select({
        name: 'decimal',
        label: dryRun.decimal,
        chosen: declared.decimal,
        none: dryRun.prove,
        choices: [
          [',', dryRun.comma],
          ['.', dryRun.point],
        ],
      })}
      ${select({
        name: 'encoding',
        label: dryRun.encoding,
        chosen: declared.encoding,
        none: dryRun.prove,
        choices: ENCODINGS.map((encoding) => [encoding, encoding] as const),
      })}
      ${select({
        name: 'duplicateRows',
        label: dryRun.duplicateRows,
        chosen: declared.duplicateRows,
        none: dryRun.refuseDuplicates,
        choices: [['keep', dryRun.keepDuplicates]],
      })}
      ${select({
        name: 'lookAlikes',
        label: dryRun.lookAlikes,
        chosen: declared.lookAlikes,
        none: dryRun.refuseDuplicates,
        choices: [['keep', dryRun.keepLookAlikes]],
      })}
      <button>${dryRun.again}</button>
    </form>
  </details>`;
}

interface Select {
  readonly name: string;
  readonly label: string;
  readonly chosen: string | undefined;
  readonly none: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
}

function select({ name, label, chosen, none, choices }: Select): Html {
  return html`<label
    >${label}
    <select name="${name}">
      <option value="">${none}</option>
      ${choices.map(([value, text]) => html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${text}</option>`)}
    </select></label
  >`;
}
