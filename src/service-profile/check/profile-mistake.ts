/** Keys and list positions from the top of a profile. */
export type ProfilePath = readonly (string | number)[];

/** One thing that is wrong in the file of a service profile. */
export interface ProfileMistake {
  /** Of an unknown key, its own name stands last; empty: the file as a whole. */
  readonly path: ProfilePath;
  /** What must hold and what was found, as a phrase without secrets. */
  readonly message: string;
  /** The nearest word that is valid there; null: none is near. */
  readonly suggestion: string | null;
  /** Counted from 1; null: the file leaves it out. */
  readonly line: number | null;
  readonly column: number | null;
}

/** A mistake whose place in the file is not known yet. */
export interface UnplacedMistake extends Omit<ProfileMistake, 'line' | 'column'> {
  /** The key is wrong, and not what stands there. */
  readonly isKey?: true;
}

/** A path as people write it: `answers.rules.0.means`. */
export function pathText(path: ProfilePath): string {
  return path.length === 0 ? 'top level' : path.map(String).join('.');
}

/** One mistake as one line. */
export function mistakeText({ path, line, column, message, suggestion }: ProfileMistake): string {
  const where = line === null ? '' : ` (line ${line}, column ${column})`;
  const nearest = suggestion === null ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
  return `${pathText(path)}${where}: ${message}${nearest}`;
}
