import type { Config } from '../../runtime/config/config.ts';

/**
 * For a command that a person waits for and that ends: the parts' own news would come between the lines that are for the person. Whoever sets
 * LOTE_LOG_LEVEL gets what was asked for.
 */
export function quietLevel({ logLevel }: Pick<Config, 'logLevel'>, env: NodeJS.ProcessEnv): Config['logLevel'] {
  return env['LOTE_LOG_LEVEL'] === undefined ? 'warn' : logLevel;
}
