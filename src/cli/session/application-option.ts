import { Option } from 'commander';

/** `--application`, of each command that works for one application. */
export function applicationOption(): Option {
  return new Option('--application <name>', 'of several applications, the one that is meant (docs/applications.md)');
}

/** For a command that knows its options by name. */
export function named(application: string | undefined): WithApplication {
  return application === undefined ? {} : { application };
}

/** The same as it arrives; absent where there is one application. */
export interface WithApplication {
  readonly application?: string;
}
