import type { Config } from '../../runtime/config/config.ts';

/** Whether Lote itself is the service. A process without a key on a shared ledger, or with the address alone, only does not know its service. */
export function isBuiltInSandbox({
  service,
  serviceBaseUrl,
  databaseUrl,
}: Pick<Config, 'service' | 'serviceBaseUrl' | 'databaseUrl'>): boolean {
  return service.kind === 'sandbox' && serviceBaseUrl === null && databaseUrl === null;
}
