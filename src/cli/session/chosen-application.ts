import type { Config } from '../../runtime/config/config.ts';
import { chooseApplication, readInstallation } from '../../runtime/config/installation.ts';
import type { EmbeddedOptions } from '../../wiring/start/embedded-stack.ts';

/** What a command works for, and what it starts where nobody works yet. */
export interface ChosenApplication {
  readonly config: Config;
  /** The whole installation: whoever owns the data directory works for all applications. */
  readonly embedded: Pick<EmbeddedOptions, 'config' | 'applications'>;
}

/**
 * The application of `--application`, which may be left out where there is one.
 * @throws LoteError `configuration-invalid`; `usage` with the names that there are
 */
export function chosenApplication(env: NodeJS.ProcessEnv, name: string | null): ChosenApplication {
  const installation = readInstallation(env);
  const config = chooseApplication(installation, name);
  const { common, applications, several } = installation;
  return { config, embedded: several ? { config: common, applications } : { config } };
}
