/** A profile that the sandbox cannot speak. `reasons` are sentences: each names the key, and says what to do. */
export class UnspeakableProfile extends Error {
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(`Reading SANDBOX_PROFILE: the sandbox cannot speak this profile. ${reasons.join(' ')}`);
    this.name = 'UnspeakableProfile';
    this.reasons = reasons;
  }
}
