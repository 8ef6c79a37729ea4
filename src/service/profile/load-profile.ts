import { LoteError } from '../../domain/errors.ts';
import { mistakeText, type ProfileMistake } from './check/read-profile-file.ts';
import { checkProfile } from './check-profile.ts';
import { DEFAULT_PROFILE } from './default-profile.ts';
import type { ServiceProfile } from './profile.ts';

/** More than these are not read at once; `lote profile check` shows them all. */
const MISTAKES_SHOWN = 20;

/**
 * The profile in force: the JSON text, with comments and trailing commas allowed, merged deeply over the default (lists replace lists).
 * @throws LoteError `configuration-invalid`, naming each mistake with its place.
 */
export function loadProfile(text: string | undefined): ServiceProfile {
  if (text === undefined) return DEFAULT_PROFILE;
  const { profile, mistakes } = checkProfile(text);
  if (profile === null) throw new LoteError('configuration-invalid', messageOf(mistakes));
  return profile;
}

function messageOf(mistakes: readonly ProfileMistake[]): string {
  const next = 'Correct the file named by SERVICE_PROFILE; what it leaves out keeps its default.';
  const [first, second] = mistakes;
  if (first !== undefined && second === undefined) return `Reading the service profile: ${mistakeText(first)}. ${next}`;
  const more = mistakes.length - MISTAKES_SHOWN;
  return [
    `Reading the service profile: ${mistakes.length} mistakes.`,
    ...mistakes.slice(0, MISTAKES_SHOWN).map((mistake) => `  ${mistakeText(mistake)}`),
    ...(more > 0 ? [`  … and ${more} more: \`lote profile check\` shows them all.`] : []),
    next,
  ].join('\n');
}
