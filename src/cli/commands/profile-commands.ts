import type { Command } from 'commander';
import { applicationOption, type WithApplication } from '../session/application-option.ts';
import type { ProfileProbeOptions } from './profile-probe.ts';

type Replaying = WithApplication & { readonly profile?: string; readonly json: boolean };

/** Commands about the service profile. What they need is imported when one of them is called. */
export function addProfileCommands(program: Command): void {
  const profile = program
    .command('profile')
    .description(
      'the service profile, which says how a real service speaks: find it out, check a file, read recorded answers, print its JSON Schema',
    );

  profile
    .command('check')
    .description('every mistake of a service profile with its place, or what it sets otherwise than the default')
    .argument('[file]', 'a service profile; default: the file named by SERVICE_PROFILE')
    .addOption(applicationOption())
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (file: string | undefined, options: WithApplication & { json: boolean }) => {
      const { profileCheckCommand } = await import('./profile-check.ts');
      process.exitCode = profileCheckCommand({ file: file ?? null, ...options, env: process.env });
    });

  addProbeCommand(profile);

  profile
    .command('replay')
    .description('what a service profile understands of recorded answers and deliveries; nothing leaves the machine')
    .argument('<dir>', 'a folder with files of LOTE_CAPTURE or HAR files')
    .option('--profile <file>', 'a service profile (default: the file named by SERVICE_PROFILE)')
    .addOption(applicationOption())
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (directory: string, { profile: file, ...options }: Replaying) => {
      const { profileReplayCommand } = await import('./profile-replay.ts');
      const given = { directory, profile: file ?? null, ...options };
      process.exitCode = await profileReplayCommand({ ...given, env: process.env });
    });

  profile
    .command('schema')
    .description('the JSON Schema of a service profile, for editors')
    .action(async () => {
      const { profileSchemaCommand } = await import('./profile-schema.ts');
      process.exitCode = profileSchemaCommand();
    });
}

function addProbeCommand(profile: Command): void {
  profile
    .command('probe')
    .description('find out how a service speaks: create a test merchant and a test invoice, and propose a profile')
    .option(
      '--profile <file>',
      'the profile to begin with, which says how requests are written; default: SERVICE_PROFILE',
    )
    .option('--out <file>', 'write the proposal there, readable by you alone; default: standard output')
    .option('--force', 'replace the file of --out', false)
    .option('--nif <digits>', 'tax number of the merchant; default: a made-up one')
    .option('--name <text>', 'legal name of the merchant', 'Lote probe')
    .option('--email <address>', 'its e-mail address', 'lote-probe@example.com')
    .option('--currency <code>', 'currency of the invoice', 'EUR')
    .option('--tax-code <code>', 'tax code of the invoice', 'IVA_23')
    .option(
      '--failing-tax-code <code>',
      'one with which the test environment makes an invoice fail; a second one is created',
    )
    .option('--webhook-url <url>', 'address at which the service reaches the receiver of this command')
    .option('--port <number>', 'port on which that receiver listens, on this machine alone')
    .option('--wait <duration>', 'how long an invoice may take to settle', '60s')
    .option('--live', 'the key may be a live one: the invoice is then real', false)
    .option('--yes', 'ask nothing: create what would be asked for', false)
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (options: ProfileProbeOptions) => {
      const { profileProbeCommand } = await import('./profile-probe.ts');
      process.exitCode = await profileProbeCommand(options, process.env);
    });
}
