import type {
  CheckedCopy,
  KeepAnswer,
  KeptCopy,
  ProfileEditor,
  RecordedAnswers,
  ReplayComparison,
  ShownSection,
} from '../../console/profile-editor.ts';
import { LoteError } from '../../domain/errors.ts';
import { checkProfile } from '../../service-profile/check-profile.ts';
import { differencesBetween } from '../../service-profile/check/differences.ts';
import { pathText, type ProfileMistake } from '../../service-profile/check/profile-mistake.ts';
import { secretMistakes, withoutSecrets } from '../../service-profile/check/secret-texts.ts';
import { exampleOf } from '../../service-profile/place-example.ts';
import { profileCopy } from '../../service-profile/profile-copy.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { sectionWords, settingsOf } from '../../service-profile/settings.ts';

/** A check may take a second of this process, and a recorded answer may hold much. */
const MOST_AT_ONCE = 2;
/** Settings that stand in no section. */
const GENERAL = 'general';

/** What the recorded answers say; null: nothing is recorded. */
export interface Recordings {
  readonly recorded: (profile: ServiceProfile) => Promise<RecordedAnswers | null>;
  readonly compare: (inForce: ServiceProfile, copy: ServiceProfile) => Promise<ReplayComparison | null>;
}

/** For a process that has no recorded answers. */
export const NOTHING_RECORDED: Recordings = { recorded: async () => null, compare: async () => null };

/** A copy that is written as a file; `note` and `by` go into the audit. */
export interface SavedCopy {
  readonly name: string;
  readonly text: string;
  readonly note: string;
  readonly by: string;
}

/** What the editor works with. */
export interface ProfileEditorParts {
  readonly profile: ServiceProfile;
  /** The file's own text, with its comments; null: there is none, or it cannot be read now. */
  readonly fileText: () => string | null;
  /** What no profile may hold. */
  readonly secrets: readonly string[];
  readonly recordings: Recordings;
  /** Left out: this process only shows. Null: a file of that name is there. */
  readonly save?: (copy: SavedCopy) => Promise<string | null>;
  readonly kept: (name: string) => Promise<string | null>;
}

/** The service profile in force and copies of it, for the console. */
export function createProfileEditor(parts: ProfileEditorParts): ProfileEditor {
  const { profile, recordings, save } = parts;
  const limited = atMost(MOST_AT_ONCE);
  const check = (text: string): Promise<CheckedCopy> => limited(() => checkedCopy(parts, text));
  return {
    sections: () => sectionsOf(profile),
    copy: () => copyOf(parts),
    check,
    recorded: () => recordings.recorded(profile),
    ...(save === undefined ? {} : { keep: async (copy) => keepCopy(copy, await check(copy.text), save) }),
    kept: parts.kept,
  };
}

function sectionsOf(profile: ServiceProfile): readonly ShownSection[] {
  const sections = new Map<string, ShownSection['settings'][number][]>();
  for (const { key, words, value, default: byDefault, parts } of settingsOf(profile)) {
    const path = key.split('.');
    const name = path.length === 1 ? GENERAL : (path[0] ?? GENERAL);
    const settings = sections.get(name) ?? [];
    sections.set(name, settings);
    settings.push({
      ...{ key, words, parts },
      value: JSON.stringify(withoutSecrets(value, path)),
      default: JSON.stringify(byDefault),
      differs: JSON.stringify(value) !== JSON.stringify(byDefault),
      example: exampleOf(key, value, profile),
    });
  }
  return [...sections].map(([name, settings]) => ({ name, words: sectionWords(name), settings }));
}

/** The file as somebody wrote it, as long as it still says what is in force; else the same in words of our own. */
function copyOf({ profile, fileText, secrets }: ProfileEditorParts): string {
  const text = fileText();
  if (text !== null && secretMistakes(text, secrets).length === 0) {
    const { profile: said } = checkProfile(text);
    if (said !== null && differencesBetween(profile, said).length === 0) return text;
  }
  return profileCopy(profile);
}

async function checkedCopy(parts: ProfileEditorParts, text: string): Promise<CheckedCopy> {
  const { profile, mistakes } = checkProfile(text);
  const all = [...mistakes, ...secretMistakes(text, parts.secrets)].toSorted(inTextOrder);
  if (profile === null || all.length > 0)
    return {
      mistakes: all.map(({ path, ...mistake }) => ({ ...mistake, setting: pathText(path) })),
      differences: [],
      replay: null,
    };
  const differences = differencesBetween(parts.profile, profile).map(({ key, before, after }) => ({
    key,
    inForce: JSON.stringify(withoutSecrets(before, key.split('.'))),
    copy: JSON.stringify(withoutSecrets(after, key.split('.'))),
  }));
  return { mistakes: [], differences, replay: await parts.recordings.compare(parts.profile, profile) };
}

function inTextOrder(one: ProfileMistake, other: ProfileMistake): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

async function keepCopy(
  { name, text, acceptsLess, by }: KeptCopy,
  checked: CheckedCopy,
  save: NonNullable<ProfileEditorParts['save']>,
): Promise<KeepAnswer> {
  const { mistakes, differences, replay } = checked;
  if (mistakes.length > 0) return { how: 'refused', why: 'mistakes', checked };
  const understandsLess = replay?.understandsLess === true;
  if (understandsLess && !acceptsLess) return { how: 'refused', why: 'understands-less', checked };
  const settings = differences.length === 1 ? '1 setting differs' : `${differences.length} settings differ`;
  const less = understandsLess ? '; accepted that it understands less of the recorded answers' : '';
  const file = await save({ name, text, by, note: `${settings} from the profile in force${less}` });
  return file === null ? { how: 'refused', why: 'taken', checked } : { how: 'saved', file };
}

function atMost(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  return async (work) => {
    if (running >= most)
      throw new LoteError(
        'checks-busy',
        `Checking a service profile: at most ${most} are checked at once, and so many are. Try again in a moment.`,
      );
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  };
}
