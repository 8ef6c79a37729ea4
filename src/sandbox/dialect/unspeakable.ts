/** Why the sandbox cannot speak a profile. */
export interface UnspeakableKey {
  /** A sentence that names the key and says what to do. */
  readonly reason: string;
  /** The key whose place the sandbox cannot write, and a place that it can; null: another one cannot help. */
  readonly ownPlace: { readonly key: string; readonly place: string } | null;
}

/** A profile that the sandbox cannot speak. */
export class UnspeakableProfile extends Error {
  readonly keys: readonly UnspeakableKey[];

  constructor(keys: readonly UnspeakableKey[]) {
    super(`The sandbox cannot speak this profile: ${keys.map(({ reason }) => reason).join(' ')}`);
    this.name = 'UnspeakableProfile';
    this.keys = keys;
  }
}

/** A reason for which no other place is the remedy. */
export function unspeakable(reason: string): UnspeakableKey {
  return { reason, ownPlace: null };
}
