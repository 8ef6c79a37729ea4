import { z } from 'zod';
import type { ReadAs } from '../../domain/read-as.ts';
import { isDoubtful } from '../../ingest/csv/decimal-evidence.ts';
import type { NumberMarks } from '../../ingest/csv/original-cells.ts';
import { NUMBER_COLUMNS } from '../../ingest/ingest-result.ts';
import type { NumberColumn, Proof } from '../../ingest/ingest-result.ts';
import type { Speech } from '../../texts/choose-language.ts';
import { speechFormat } from '../../texts/speech-format.ts';

type Decimals = z.infer<typeof Decimals>;

const Mark = z.enum(['.', ',']);
const Decimal = z.object({
  mark: Mark,
  how: z.string(),
  ambiguous: z.unknown().optional(),
  against: z.unknown().optional(),
  doubtful: z.literal(true).optional(),
});
const Decimals = z.object({ quantity: Decimal, unit_price: Decimal });
const ReadProof = z.object({
  decimal: Decimals.optional(),
  delimiter: z.object({ value: z.string(), how: z.string().optional() }).optional(),
  encoding: z.object({ name: z.string(), how: z.string() }).optional(),
  duplicateRows: z.literal('keep').optional(),
  refusesDuplicateRows: z.literal(true).optional(),
  areReferencesCut: z.literal(true).optional(),
  profile: z.object({ name: z.string() }).optional(),
  workbook: z.object({}).optional(),
});

/**
 * What a corrections file must carry so that its rows, fewer than the file's, are read as they were. `keepsNumbers`: it is a workbook, in
 * which the numbers of a workbook stay numbers.
 */
export function readAsOf(proof: Proof, keepsNumbers = false): ReadAs {
  const read = ReadProof.parse(proof);
  const { decimal, profile, encoding, delimiter, duplicateRows, areReferencesCut, workbook } = read;
  return {
    ...marksOf(decimal, { losesNumbers: workbook !== undefined && !keepsNumbers, hasProfile: profile !== undefined }),
    ...doubtfulOf(decimal),
    ...(areReferencesCut === undefined ? {} : { references: 'cut' }),
    ...(profile === undefined ? {} : { profile: profile.name }),
    ...(encoding?.how === 'declared' ? { encoding: encoding.name } : {}),
    ...(delimiter?.how === 'declared' ? { delimiter: delimiter.value } : {}),
    ...(duplicateRows === undefined ? {} : { duplicateRows }),
    ...(read.refusesDuplicateRows === true && profile !== undefined ? { duplicateRows: 'refuse' } : {}),
  };
}

/**
 * `losesNumbers`: numbers that a workbook held as numbers prove nothing about the mark of a text, and their texts may read as two numbers.
 * `hasProfile`: a mark that was declared may be another one than the profile's, and somebody may write a number that only the mark decides.
 */
function marksOf(
  decimal: Decimals | undefined,
  { losesNumbers, hasProfile }: { readonly losesNumbers: boolean; readonly hasProfile: boolean },
): Pick<ReadAs, 'quantity' | 'unit_price'> {
  if (decimal === undefined) return {};
  const isNeeded = (column: NumberColumn) =>
    losesNumbers ||
    (hasProfile && decimal[column].how === 'declared') ||
    decimal[column].ambiguous !== undefined ||
    isDoubtful(decimal[column]);
  return {
    ...(isNeeded('quantity') ? { quantity: decimal.quantity.mark } : {}),
    ...(isNeeded('unit_price') ? { unit_price: decimal.unit_price.mark } : {}),
  };
}

function doubtfulOf(decimal: Decimals | undefined): Pick<ReadAs, 'doubtful'> {
  const doubtful = NUMBER_COLUMNS.filter((column) => decimal !== undefined && isDoubtful(decimal[column]));
  return doubtful.length === 0 ? {} : { doubtful };
}

/** The marks of the number columns, and those columns in which both occur: their doubtful cells have to be written anew. */
export function numberMarksOf(proof: Proof): NumberMarks {
  const { decimal } = ReadProof.parse(proof);
  if (decimal === undefined) return { marks: {}, doubtful: [] };
  return {
    marks: { quantity: decimal.quantity.mark, unit_price: decimal.unit_price.mark },
    doubtful: NUMBER_COLUMNS.filter((column) => isDoubtful(decimal[column])),
  };
}

/**
 * In which mark the reader of report.csv writes amounts: the file's own. Where no amount shows it, a `;` comes from an Excel with commas, and a workbook,
 * whose numbers have no mark, was opened in the Excel of those who read `speech`.
 */
export function decimalMarkOf(proof: Proof, speech: Speech): '.' | ',' {
  const { decimal, delimiter, workbook } = ReadProof.parse(proof);
  if (decimal === undefined) return '.';
  if (decimal.unit_price.how !== 'either') return decimal.unit_price.mark;
  if (decimal.quantity.how !== 'either') return decimal.quantity.mark;
  const isComma = workbook === undefined ? delimiter?.value === ';' : speechFormat(speech).decimalMark === ',';
  return isComma ? ',' : '.';
}
