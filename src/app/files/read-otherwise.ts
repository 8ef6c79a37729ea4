import type { ReadOptions } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import { isSameEncoding } from '../../ingest/encoding/decide-encoding.ts';
import type { Proof } from '../../ingest/ingest-result.ts';
import { FileProof } from './file-proof.ts';
import { profileOf, type NamedFile } from './read-with-profile.ts';

/**
 * In what a file would be read otherwise now than its proof says, such as `decimal mark "." instead of ","`. The mapping
 * profile in force is compared, and whatever is declared; what is not declared stays as it was. `path`: where the bytes
 * are; null: they are gone.
 */
export async function readOtherwise(path: string | null, file: NamedFile, known: Proof): Promise<readonly string[]> {
  const proof = FileProof.parse(known);
  if (proof.dialect === undefined) return [];
  return [...(await otherProfile(path, file, proof)), ...otherDeclarations(file.options, proof)];
}

async function otherProfile(path: string | null, file: NamedFile, { profile: before }: FileProof) {
  try {
    const now = (await profileOf(path, file))?.profile;
    if (now?.sha256 === before?.sha256) return [];
    return [
      `${now === undefined ? 'no mapping profile' : `mapping profile ${named(now)}`} instead of ${named(before)}`,
    ];
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'usage') throw error;
    return [`a mapping profile that cannot be read instead of ${named(before)} (${error.message})`];
  }
}

function named(profile: { readonly name: string; readonly sha256: string } | undefined): string {
  return profile === undefined ? 'none' : `${profile.name} (sha256 ${profile.sha256.slice(0, 12)}…)`;
}

function otherDeclarations(declared: ReadOptions, proof: FileProof): readonly string[] {
  const { decimal, encoding, delimiter, sheet, duplicateRows } = declared;
  const known = proof.encoding?.name;
  const isEncodingOther = encoding !== undefined && known !== undefined && !isSameEncoding(encoding, known);
  // Where no cell depends on the mark, another one gives the same numbers.
  const dependsOnMark = (proof.decimal?.witness ?? proof.decimal?.ambiguous ?? null) !== null;
  const isMarkOther = decimal !== undefined && dependsOnMark && decimal !== proof.decimal?.mark;
  const texts = [
    ['delimiter', delimiter, proof.delimiter?.value],
    ['sheet', sheet, proof.dialect?.sheet?.name],
    ['identical rows:', duplicateRows, proof.duplicateRows ?? 'refuse'],
  ] as const;
  return [
    ...(isMarkOther ? [`decimal mark "${decimal}" instead of "${proof.decimal?.mark}"`] : []),
    ...(isEncodingOther ? [`encoding ${JSON.stringify(encoding)} instead of ${JSON.stringify(known)}`] : []),
    ...texts.flatMap(([what, now, before]) =>
      now === undefined || before === undefined || now.toLowerCase() === before.toLowerCase()
        ? []
        : [`${what} ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`],
    ),
  ];
}
