import type { ReadAs } from '../domain/read-as.ts';
import { type DecimalEvidence, type DecimalProof, isDoubtful } from './csv/decimal-evidence.ts';
import type { Damage } from './encoding/damage.ts';
import type { IngestOptions } from './ingest-options.ts';
import type { Conversion, NumberColumn, Proof } from './ingest-result.ts';

/** What the rows of a file showed while they were read, whatever its format. */
export interface RowEvidence extends Pick<Conversion, 'format' | 'labels' | 'lostReferences'> {
  readonly evidence: Readonly<Record<NumberColumn, DecimalEvidence>>;
  readonly damage: Damage;
  /** What the corrections file says of itself; {} where the file is none. */
  readonly readAs: ReadAs;
  /** As in `Conversion`; left out where it cannot be told. */
  readonly areReferencesCut?: boolean;
}

/** How rows become invoices, and what of that stands in the proof. */
export interface DecidedConversion {
  readonly conversion: Conversion;
  readonly decimal: Readonly<Record<NumberColumn, DecimalProof>>;
  readonly proof: Proof;
}

/**
 * What an operator declares comes before what the file says of itself, that before the profile, and that before the default.
 * @throws Refusal `decimal-not-as-declared`, `decimal-not-as-before`, `decimal-contradictory`, `decimal-unproved`
 */
export function decideConversion(rows: RowEvidence, options: IngestOptions): DecidedConversion {
  const { format, labels, lostReferences, evidence, damage, readAs } = rows;
  // The mark of a profile is one for both columns: where the file names one of them, the profile's was not in force.
  const namesMark = readAs.quantity !== undefined || readAs.unit_price !== undefined;
  const ofProfile = namesMark ? undefined : options.ofProfile?.decimal;
  const decide = (column: NumberColumn): DecimalProof =>
    evidence[column].decide(options.decimal ?? readAs[column] ?? ofProfile, readAs.doubtful?.includes(column));
  const decimal = { quantity: decide('quantity'), unit_price: decide('unit_price') };
  const declaredRows = options.duplicateRows ?? readAs.duplicateRows ?? options.ofProfile?.duplicateRows;
  const duplicateRows = declaredRows ?? 'refuse';
  const lookAlikes = options.lookAlikes ?? 'refuse';
  // Of fewer references, and of some that were corrected, corrections may show it no more.
  const areReferencesCut = lookAlikes === 'refuse' && (rows.areReferencesCut === true || readAs.references === 'cut');
  return {
    conversion: {
      ...{ format, labels, lostReferences, duplicateRows },
      decimal: { quantity: decimal.quantity.mark, unit_price: decimal.unit_price.mark },
      doubtful: {
        quantity: isDoubtful(decimal.quantity),
        unit_price: isDoubtful(decimal.unit_price),
      },
      lookAlikes,
      damaged: damage.toJSON(),
      taxCodes: options.taxCodes ?? null,
      ...(areReferencesCut ? { areReferencesCut } : {}),
    },
    decimal,
    proof: {
      decimal,
      ...(duplicateRows === 'keep' ? { duplicateRows } : {}),
      // Under a name of its own: earlier versions read the other one, and know only `keep` of it.
      ...(declaredRows === 'refuse' ? { refusesDuplicateRows: true } : {}),
      ...(areReferencesCut ? { areReferencesCut } : {}),
      ...(readAs.profile === undefined ? {} : { correctedWith: readAs.profile }),
    },
  };
}
