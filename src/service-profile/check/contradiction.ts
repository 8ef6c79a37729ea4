import type { ProfilePath } from './profile-mistake.ts';

/** Two settings that cannot both hold. */
export interface Contradiction {
  /** Keys from the top to the setting that is to be corrected. */
  readonly path: ProfilePath;
  /** What must hold and what was found, as a phrase. */
  readonly message: string;
}
