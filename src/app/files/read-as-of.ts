import { z } from 'zod';
import type { ReadAs } from '../../domain/read-as.ts';
import type { Proof } from '../../ingest/ingest-result.ts';
import type { Speech } from '../../texts/choose-language.ts';
import { speechFormat } from '../../texts/speech-format.ts';

const Mark = z.enum(['.', ',']);
const Decimal = z.object({ mark: Mark, how: z.string(), ambiguous: z.unknown().optional() });
const ReadProof = z.object({
  decimal: Decimal.optional(),
  delimiter: z.object({ value: z.string(), how: z.string().optional() }).optional(),
  encoding: z.object({ name: z.string(), how: z.string() }).optional(),
  duplicateRows: z.enum(['keep', 'refuse']).optional(),
  areReferencesCut: z.literal(true).optional(),
  profile: z.object({ name: z.string() }).optional(),
  workbook: z.object({}).optional(),
});

/** What a corrections file must carry so that its rows, fewer than the file's, are read as they were. */
export function readAsOf(proof: Proof): ReadAs {
  const read = ReadProof.parse(proof);
  const { decimal, profile, encoding, delimiter, duplicateRows, areReferencesCut } = read;
  return {
    // A mark that was declared may be another one than the profile's, and a person may write a number that only the mark decides.
    ...(decimal !== undefined &&
    ((profile !== undefined && decimal.how === 'declared') || decimal.ambiguous !== undefined)
      ? { decimal: decimal.mark }
      : {}),
    ...(areReferencesCut === undefined ? {} : { references: 'cut' }),
    ...(profile === undefined ? {} : { profile: profile.name }),
    ...(encoding?.how === 'declared' ? { encoding: encoding.name } : {}),
    ...(delimiter?.how === 'declared' ? { delimiter: delimiter.value } : {}),
    // What is refused without a word needs no word, unless a profile keeps them.
    ...(duplicateRows === 'keep' || (duplicateRows === 'refuse' && profile !== undefined) ? { duplicateRows } : {}),
  };
}

/** The decimal mark of the file; null: it was not read as rows. */
export function markOf(proof: Proof): '.' | ',' | null {
  return ReadProof.parse(proof).decimal?.mark ?? null;
}

/**
 * In which mark the reader of report.csv writes amounts: the file's own. Where no amount shows it, a `;` comes from an Excel with commas, and a workbook,
 * whose numbers have no mark, was opened in the Excel of those who read `speech`.
 */
export function decimalMarkOf(proof: Proof, speech: Speech): '.' | ',' {
  const { decimal, delimiter, workbook } = ReadProof.parse(proof);
  if (decimal === undefined) return '.';
  if (decimal.how !== 'either') return decimal.mark;
  const isComma = workbook === undefined ? delimiter?.value === ';' : speechFormat(speech).decimalMark === ',';
  return isComma ? ',' : '.';
}
