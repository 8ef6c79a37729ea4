import { html } from 'hono/html';
import type { Declared } from '../console-options.ts';
import { ENCODINGS } from './declared.ts';
import type { PageFormat } from '../pages/page-format.ts';
import type { Html } from '../pages/page-layout.ts';
import { select } from './select.ts';

export interface DeclareForm {
  readonly file: string;
  readonly declared: Declared;
}

/** For a file that does not prove how it is written: the check again, with what the operator knows. */
export function declareForm({ texts: { dryRun, mapping } }: PageFormat, { file, declared }: DeclareForm): Html {
  const open = Object.keys(declared).length > 0;
  return html`<details ${open ? 'open' : ''}>
    <summary>${dryRun.declare}</summary>
    <form action="/check" class="fields">
      <input type="hidden" name="file" value="${file}" />
      ${declared.profile === undefined ? '' : html`<input type="hidden" name="profile" value="${declared.profile}" />`}
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
      <label
        >${mapping.sheet}
        <input name="sheet" maxlength="200" value="${declared.sheet ?? ''}"
      /></label>
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
