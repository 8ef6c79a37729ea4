import { z } from 'zod';
import type { ReadOptions } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import { isSameEncoding } from '../../ingest/encoding/decide-encoding.ts';
import type { Proof } from '../../ingest/ingest-result.ts';
import { profileNow } from './read-with-profile.ts';

const Mark = z.object({ mark: z.string(), witness: z.unknown().optional(), ambiguous: z.unknown().optional() });
const Profile = z.object({ name: z.string(), sha256: z.string() });

/** A refused file has none of these. */
const KnownProof = z.object({
  dialect: z.object({ sheet: z.object({ name: z.string() }).optional() }).optional(),
  profile: Profile.optional(),
  decimal: Mark.optional(),
  encoding: z.object({ name: z.string() }).optional(),
  delimiter: z.object({ value: z.string() }).optional(),
  duplicateRows: z.enum(['keep', 'refuse']).optional(),
});

type KnownProof = z.infer<typeof KnownProof>;

export interface ReadAgain {
  /** Where the bytes are; null: nowhere any more. */
  readonly path: string | null;
  /** The name under which the file comes now: it may choose the profile. */
  readonly file: string;
  readonly inputDir: string;
  readonly options: ReadOptions;
  /** How it was read before. */
  readonly proof: Proof;
}

/**
 * In what a file would be read otherwise now than its proof says, such as `decimal mark "." instead of ","`. The mapping
 * profile in force is compared, and whatever is declared; what is not declared stays as it was.
 */
export async function readOtherwise(again: ReadAgain): Promise<readonly string[]> {
  const proof = KnownProof.parse(again.proof);
  if (proof.dialect === undefined) return [];
  return [...(await otherProfile(again, proof)), ...otherDeclarations(again.options, proof)];
}

async function otherProfile(again: ReadAgain, { profile: before }: KnownProof): Promise<readonly string[]> {
  try {
    const now = await profileNow(again.path, again);
    if (now?.sha256 === before?.sha256) return [];
    return [`${now === null ? 'no mapping profile' : `mapping profile ${named(now)}`} instead of ${named(before)}`];
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'usage') throw error;
    return [`a mapping profile that cannot be read instead of ${named(before)} (${error.message})`];
  }
}

function named(profile: z.infer<typeof Profile> | undefined): string {
  return profile === undefined ? 'none' : `${profile.name} (sha256 ${profile.sha256.slice(0, 12)}…)`;
}

function otherDeclarations(declared: ReadOptions, proof: KnownProof): readonly string[] {
  const { decimal, encoding, delimiter, sheet, duplicateRows } = declared;
  const differences = [
    ['delimiter', delimiter, proof.delimiter?.value],
    ['sheet', sheet, proof.dialect?.sheet?.name],
    ['identical rows:', duplicateRows, proof.duplicateRows ?? 'refuse'],
  ] as const;
  return [
    ...otherMarks(decimal, proof),
    ...otherEncoding(encoding, proof),
    ...differences.flatMap(([what, now, before]) =>
      now === undefined || before === undefined || now.toLowerCase() === before.toLowerCase()
        ? []
        : [`${what} ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`],
    ),
  ];
}

/** One encoding has several names. */
function otherEncoding(now: string | undefined, { encoding }: KnownProof): readonly string[] {
  if (now === undefined || encoding === undefined || isSameEncoding(now, encoding.name)) return [];
  return [`encoding ${JSON.stringify(now)} instead of ${JSON.stringify(encoding.name)}`];
}

/** Where no cell depends on the mark, another one gives the same numbers. */
function otherMarks(mark: ReadOptions['decimal'], { decimal }: KnownProof): readonly string[] {
  if (mark === undefined || decimal === undefined) return [];
  const { mark: before, witness, ambiguous } = decimal;
  const depends = (witness ?? null) !== null || ambiguous !== undefined;
  return before === mark || !depends ? [] : [`decimal mark "${mark}" instead of "${before}"`];
}
