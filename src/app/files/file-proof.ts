import { z } from 'zod';
import { givenOnly } from '../../domain/given-only.ts';
import { LoteError } from '../../domain/errors.ts';
import type { ReadAs } from '../../domain/read-as.ts';
import { Dialect, type Proof } from '../../ingest/ingest-result.ts';
import type { Speech } from '../../texts/languages.ts';
import { speechFormat } from '../../texts/speech-format.ts';

const Witness = z.object({ row: z.number(), column: z.string().optional(), value: z.string() });

/** Facts in a proof about how its file was read. The proof of a refused file has only the facts before the refusal. */
export const FileProof = z.object({
  dialect: z.object({ format: z.string().optional(), sheet: z.object({ name: z.string() }).optional() }).optional(),
  encoding: z
    .object({
      name: z.string(),
      how: z.string(),
      bom: z.boolean().default(false),
      samples: z.array(z.string()).default([]),
    })
    .optional(),
  delimiter: z.object({ value: z.string(), how: z.string().optional(), headerRow: z.number().optional() }).optional(),
  header: z.array(z.object({ column: z.string(), header: z.string(), position: z.number() })).default([]),
  ignored: z.array(z.string()).default([]),
  decimal: z
    .object({
      mark: z.enum(['.', ',']),
      how: z.string(),
      /** The cell that proves the mark. */
      witness: Witness.nullish(),
      /** A cell whose number depends on the mark. */
      ambiguous: Witness.optional(),
      thousands: Witness.optional(),
    })
    .optional(),
  workbook: z
    .object({
      sheet: z.object({ name: z.string(), how: z.string(), headerRow: z.number() }).optional(),
      notRead: z.array(z.string()).default([]),
      hidden: z.array(z.string()).default([]),
    })
    .optional(),
  profile: z.object({ name: z.string(), sha256: z.string().default(''), how: z.string().default('') }).optional(),
  duplicateRows: z.enum(['keep', 'refuse']).optional(),
  areReferencesCut: z.literal(true).optional(),
});
/** Facts in a proof about how its file was read. */
export type FileProof = z.infer<typeof FileProof>;

/**
 * Returns the dialect in which the file of a proof is written.
 * @throws LoteError `internal` when the proof holds no dialect
 */
export function dialectOf(proof: Proof): Dialect {
  const parsed = Dialect.safeParse(proof['dialect']);
  if (parsed.success) return parsed.data;
  throw new LoteError(
    'internal',
    'Reading the proof of ingest: expected a dialect in it, found none or an incomplete one',
    { cause: parsed.error },
  );
}

/** Returns the settings that a corrections file needs so that its fewer rows are read as in the first file. */
export function readAsOf(proof: Proof): ReadAs {
  const { decimal, profile, encoding, delimiter, duplicateRows, areReferencesCut } = FileProof.parse(proof);
  // A declared mark may differ from the profile's, and a person may write a number that only the mark decides.
  const isMarkNeeded = (profile !== undefined && decimal?.how === 'declared') || decimal?.ambiguous !== undefined;
  // Lote refuses such rows by default, so only a profile that may keep them makes this setting necessary.
  const areRowsSaid = duplicateRows === 'keep' || profile !== undefined;
  return givenOnly({
    decimal: isMarkNeeded ? decimal?.mark : undefined,
    references: areReferencesCut === true ? ('cut' as const) : undefined,
    profile: profile?.name,
    encoding: encoding?.how === 'declared' ? encoding.name : undefined,
    delimiter: delimiter?.how === 'declared' ? delimiter.value : undefined,
    duplicateRows: areRowsSaid ? duplicateRows : undefined,
  });
}

/**
 * Returns the decimal mark for amounts in report.csv: the file's own. If no amount shows it, a `;` delimiter implies an
 * Excel with commas, and a workbook, whose numbers have no mark, implies the Excel of readers of `speech`.
 */
export function decimalMarkOf(proof: Proof, speech: Speech): '.' | ',' {
  const { decimal, delimiter, workbook } = FileProof.parse(proof);
  if (decimal === undefined) return '.';
  if (decimal.how !== 'either') return decimal.mark;
  const isComma = workbook === undefined ? delimiter?.value === ';' : speechFormat(speech).decimalMark === ',';
  return isComma ? ',' : '.';
}
