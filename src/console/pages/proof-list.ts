import { html } from 'hono/html';
import { z } from 'zod';
import { fill } from '../../texts/fill.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

const how = z.string().optional();

/** The proof of ingest, as far as it has a shape that is known here; whatever else it holds is shown as data. */
const KnownProof = z.object({
  encoding: z.object({ name: z.string(), how, bom: z.boolean().optional() }).optional().catch(undefined),
  delimiter: z.object({ value: z.string(), how }).optional().catch(undefined),
  decimal: z
    .record(
      z.string(),
      z.object({
        mark: z.string().nullable(),
        how,
        witness: z.object({ row: z.number(), value: z.string() }).nullish().catch(undefined),
      }),
    )
    .optional()
    .catch(undefined),
  header: z
    .array(z.object({ column: z.string(), header: z.string() }))
    .optional()
    .catch(undefined),
  ignored: z.array(z.string()).optional().catch(undefined),
});

/** How a file was read, and what of it proves that. */
export function proofList(format: PageFormat, proof: Readonly<Record<string, unknown>>): Html {
  const { proof: texts, dryRun } = format.texts;
  const { encoding, delimiter, decimal = {}, header = [], ignored = [] } = KnownProof.parse(proof);
  return html`<h2>${dryRun.howRead}</h2>
    <dl>
      ${encoding === undefined ? '' : line(texts.encoding, `${encoding.name}${encoding.bom === true ? ' (BOM)' : ''}`, known(format, encoding.how))}
      ${delimiter === undefined ? '' : line(texts.delimiter, markName(format, delimiter.value), known(format, delimiter.how))}
      ${Object.entries(decimal)
        .filter(([, { mark }]) => mark !== null)
        .map(([column, { mark, how: proved, witness }]) =>
          line(
            `${texts.decimal} ${column}`,
            markName(format, mark ?? ''),
            [known(format, proved), witnessText(format, witness)].filter((word) => word !== '').join('; '),
          ),
        )}
      ${ignored.length === 0 ? '' : line(texts.ignored, ignored.join(', '), '')}
    </dl>
    ${columnsTable(format, header)}
    <details>
      <summary>${texts.all}</summary>
      <pre tabindex="0">${JSON.stringify(proof, null, 2)}</pre>
    </details>`;
}

function line(name: string, value: string, note: string): Html {
  return html`<dt>${name}</dt>
    <dd>${value} ${note === '' ? '' : html`<span class="soft">(${note})</span>`}</dd>`;
}

/** Words of the reader that have a translation; another one is shown as it is. */
function known({ texts }: PageFormat, word: string | undefined): string {
  if (word === 'proved') return texts.proof.proved;
  if (word === 'either') return texts.proof.either;
  return word === 'declared' ? texts.proof.declared : (word ?? '');
}

/** A lone comma is hard to see, a tab cannot be seen at all. */
function markName({ texts: { proof } }: PageFormat, mark: string): string {
  const { comma, semicolon, point, tab, bar } = proof.marks;
  return { ',': comma, ';': semicolon, '.': point, '\t': tab, '|': bar }[mark] ?? mark;
}

function witnessText(
  { texts }: PageFormat,
  witness: { readonly row: number; readonly value: string } | null | undefined,
): string {
  return witness === null || witness === undefined
    ? ''
    : fill(texts.proof.witness, { row: String(witness.row), value: witness.value });
}

/** Only where the file has words of its own: a table of equal pairs tells nothing. */
function columnsTable(
  { texts }: PageFormat,
  header: readonly { readonly column: string; readonly header: string }[],
): Html {
  if (header.every((entry) => entry.column === entry.header)) return html``;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.proof.header}">
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.proof.column}</th>
          <th scope="col">${texts.proof.inFile}</th>
        </tr>
      </thead>
      <tbody>
        ${header.map(
          (entry) =>
            html`<tr>
              <th scope="row"><code>${entry.column}</code></th>
              <td>${entry.header}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
