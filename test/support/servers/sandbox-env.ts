import type { Place } from '../lote/lote-command.ts';
import { ownPort } from './own-port.ts';
import { SANDBOX_KEY } from './sandbox-books.ts';

/** Lote in a place of its own against a sandbox that outlives it, with a receiver port that stays the same from start to start. */
export async function sandboxEnv(
  place: Pick<Place, 'env'>,
  sandbox: { readonly url: string },
): Promise<Readonly<Record<string, string>>> {
  const port = await ownPort();
  return {
    ...place.env,
    INVOICING_BASE_URL: sandbox.url,
    INVOICING_API_KEY: SANDBOX_KEY,
    RECEIVER_PORT: String(port),
    WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
    CONSOLE_PORT: '0',
  };
}
