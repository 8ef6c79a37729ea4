/** Secrets are stored in the ledger; one query for each delivery would double the ledger's work. */
export const SECRETS_FRESH_MS = 5_000;

/** A delivery that no known secret signed may be signed with one registered a moment ago: then they are read again, but not once per forgery. */
export const SECRETS_RETRY_MS = 250;

/** Webhook secrets in memory, so that deliveries do not query the ledger. */
export interface SecretCache {
  /** The secrets, read again when older than `maxAgeMs`. */
  get(maxAgeMs: number): Promise<readonly string[]>;
}

/** Makes a cache over `load`. Reads at the same time share one `load`; one that fails rejects all of them. */
export function createSecretCache(load: () => Promise<readonly string[]>, now: () => number): SecretCache {
  let secrets: readonly string[] = [];
  let loadedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<readonly string[]> | null = null;

  async function reload(): Promise<readonly string[]> {
    try {
      secrets = await load();
      loadedAt = now();
      return secrets;
    } finally {
      loading = null;
    }
  }

  return {
    async get(maxAgeMs) {
      // Below zero: the clock was set back, and the age of the secrets is unknown.
      const age = now() - loadedAt;
      return age >= 0 && age < maxAgeMs ? secrets : await (loading ??= reload());
    },
  };
}
