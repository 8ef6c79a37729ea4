import { InvalidArgumentError } from 'commander';
import type { ColumnMeaning, KindValues, MappingChoices } from '../../console/console-options.ts';
import { listedValues } from '../../console/mapping/mapping-choices.ts';
import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import type { IngestOptions } from '../../ingest/ingest-result.ts';
import { headerName } from '../../ingest/profile/map-header.ts';
import type { TableHead } from '../../ingest/profile/table-head.ts';
import type { DeclaredOption } from '../declare-command.ts';

type Pair = readonly [string, string];

/** Options of `lote check` about the columns of a file, as pairs of the text before and after `=`. */
export type MappingOptions = { readonly saveProfile?: string } & {
  readonly [Option in 'column' | 'skip' | 'invoices' | 'constant' | 'taxCode']?: readonly Pair[] | undefined;
};

const MEANINGS: readonly ColumnMeaning[] = [...COLUMNS, 'reference-part', 'kind', 'none'];

/** Options that correct a proposed mapping, and the option that saves the mapping. */
export const mappingOptions: readonly DeclaredOption[] = [
  ['--save-profile <name>', 'confirm the columns as they are shown, and save them as a mapping profile of this name'],
  [
    '--column <meaning=header>',
    'what a column of the file means: a column of Lote, none (not sent), reference-part, or kind (says which rows are invoices); give it once for each column',
    pairs((meaning) => MEANINGS.some((one) => one === meaning)),
  ],
  ['--skip <header=values>', 'values that mark rows that are not invoices, e.g. Tipo=NC,ND', pairs()],
  ['--invoices <header=values>', 'values that mark invoices (default: the other values in the first rows)', pairs()],
  [
    '--constant <column=value>',
    'value of a column of Lote in every row, e.g. currency=EUR',
    pairs((column) => COLUMNS.some((one) => one === column)),
  ],
  ['--tax-code <word=code>', "the file's word for a tax, and the service's code for it, e.g. IVA23=IVA_23", pairs()],
];

/** Creates a parser of pairs; `accepts` decides which words may stand before the `=`. */
function pairs(accepts: (key: string) => boolean = () => true) {
  return (text: string, before: readonly Pair[] = []): readonly Pair[] => {
    const at = text.indexOf('=');
    const pair = [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const;
    if (at < 1 || pair[1] === '') throw new InvalidArgumentError('expected two words with = between them');
    if (!accepts(pair[0])) throw new InvalidArgumentError(`expected one of ${MEANINGS.join(', ')} before =`);
    return [...before, pair];
  };
}

/**
 * Returns a function that applies a person's choices to the header of one file. If a person gives a meaning to one
 * column, the column that was proposed for this meaning loses it. @throws LoteError `usage` for a header that the file
 * does not have
 */
export function chosenAtPrompt(options: MappingOptions, declared: IngestOptions): (head: TableHead) => MappingChoices {
  return (head) => {
    const meanings = new Map<number, ColumnMeaning>();
    const given = (options.column ?? []) as readonly (readonly [ColumnMeaning, string])[];
    for (const [meaning] of given) {
      const column = meaning === 'reference-part' ? 'invoice_ref' : meaning;
      const proposedAt = head.likely.indexes[COLUMNS.findIndex((one) => one === column)] ?? -1;
      if (proposedAt >= 0) meanings.set(proposedAt, 'none');
    }
    for (const [meaning, header] of given) for (const at of placesOf(head, header)) meanings.set(at, meaning);
    const kinds = new Map<number, Partial<KindValues>>();
    for (const which of ['skip', 'invoices'] as const) {
      for (const [header, values] of options[which] ?? []) {
        for (const at of placesOf(head, header)) {
          meanings.set(at, 'kind');
          kinds.set(at, { ...kinds.get(at), [which]: listedValues(values) });
        }
      }
    }
    const { encoding, delimiter, decimal } = declared;
    const constants: Partial<Record<Column, string>> = Object.fromEntries(options.constant ?? []);
    const taxCodes = new Map(options.taxCode ?? []);
    return { meanings, kinds, constants, taxCodes, ...givenOnly({ encoding, delimiter, decimal }) };
  };
}

function placesOf({ header }: TableHead, name: string): readonly number[] {
  const wanted = headerName(name);
  const places = header.cells.flatMap((cell, at) => (headerName(cell) === wanted ? [at] : []));
  if (places.length > 0) return places;
  const known = header.cells.filter((cell) => cell.trim() !== '').map((cell) => JSON.stringify(headerName(cell)));
  throw new LoteError(
    'usage',
    `Mapping a file: expected one of its headers, found ${JSON.stringify(name)}. Its headers are ${known.slice(0, 50).join(', ')}.`,
  );
}
