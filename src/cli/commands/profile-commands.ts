import type { Command } from 'commander';

/** Commands about the service profile. What they need is imported when one of them is called. */
export function addProfileCommands(program: Command): void {
  const profile = program
    .command('profile')
    .description(
      'the service profile, which says how a real service speaks: check a file, read recorded answers, print its JSON Schema',
    );

  profile
    .command('check')
    .description('every mistake of a service profile with its place, or what it sets otherwise than the default')
    .argument('[file]', 'a service profile; default: the file named by SERVICE_PROFILE')
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (file: string | undefined, { json }: { json: boolean }) => {
      const { profileCheckCommand } = await import('./profile-check.ts');
      process.exitCode = profileCheckCommand({ file: file ?? null, json, env: process.env });
    });

  profile
    .command('replay')
    .description('what a service profile understands of recorded answers and deliveries; nothing leaves the machine')
    .argument('<dir>', 'a folder with files of LOTE_CAPTURE or HAR files')
    .option('--profile <file>', 'a service profile (default: the file named by SERVICE_PROFILE)')
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (directory: string, { profile: file, json }: { profile?: string; json: boolean }) => {
      const { profileReplayCommand } = await import('./profile-replay.ts');
      process.exitCode = await profileReplayCommand({ directory, profile: file ?? null, json, env: process.env });
    });

  profile
    .command('schema')
    .description('the JSON Schema of a service profile, for editors')
    .action(async () => {
      const { profileSchemaCommand } = await import('./profile-schema.ts');
      process.exitCode = profileSchemaCommand();
    });
}
