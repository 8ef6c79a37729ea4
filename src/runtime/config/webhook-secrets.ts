import { readFile } from 'node:fs/promises';
import { secretList } from './secret-list.ts';

export interface WebhookSecretSource {
  /** As they were at the start. */
  readonly secrets: readonly string[];
  /** WEBHOOK_SECRET_FILE; null: they stand in the environment, and stay. */
  readonly secretFile: string | null;
}

interface Log {
  warn(message: string, fields?: Record<string, unknown>): void;
}

/**
 * The secrets of WEBHOOK_SECRET_FILE as they are at each call, so that one is replaced without a restart. While the file is away, empty or half
 * written, the last ones that were read stand.
 */
export function createWebhookSecrets(source: WebhookSecretSource, log: Log): () => Promise<readonly string[]> {
  const { secretFile } = source;
  let last = source.secrets;
  let warned = false;
  if (secretFile === null) return () => Promise.resolve(last);
  return async () => {
    const read = await readFile(secretFile, 'utf8').then(
      (text) => secretList(text.trim()),
      () => null,
    );
    if (read === null && !warned) log.warn('WEBHOOK_SECRET_FILE cannot be read; the secrets before stand');
    warned = read === null;
    last = read ?? last;
    return last;
  };
}
