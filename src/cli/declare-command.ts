import { Option, type Command } from 'commander';
import type { ExitCode } from './output/exit-codes.ts';

/** The flags, their description, and the default value, a parser, or the permitted values. */
export type DeclaredOption =
  | Option
  | readonly [
      flags: string,
      says: string,
      more?: string | boolean | readonly string[] | ((text: string, before: never) => unknown) | undefined,
    ];

/** A command as its help shows it. */
export interface Declared {
  /** Name and argument of the command, such as `status [batch]`. */
  readonly usage: string;
  readonly says: string;
  readonly options?: readonly DeclaredOption[];
  /** A test checks each example against the commands. */
  readonly examples?: readonly string[];
  /** Set if the exit codes say more than success (0) and failure (not 0). */
  readonly exitCodes?: string;
  /** Loads the command when it is called: a worker's packages alone take a second. It gets an object with the options, and the argument by its name. */
  readonly load?: () => Promise<(env: NodeJS.ProcessEnv, given: never) => ExitCode | Promise<ExitCode>>;
  /** Subcommands of a command without an action of its own. */
  readonly commands?: readonly Declared[];
}

/** Adds a command and its subcommands. */
export function declare(parent: Command, declared: Declared): Command {
  const { usage, says, options = [], examples = [], exitCodes, load, commands = [] } = declared;
  const command = parent.command(usage).description(says);
  for (const option of options) command.addOption(optionOf(option));
  const shown = examples.length === 0 ? [] : ['', 'Examples:', ...examples.map((example) => `  ${example}`)];
  const codes = exitCodes === undefined ? [] : ['', `Exit codes: ${exitCodes}`];
  command.addHelpText('after', [...shown, ...codes].join('\n')).showHelpAfterError('(--help shows the options)');
  for (const child of commands) declare(command, child);
  if (load === undefined) return command;
  command.action(async () => {
    const [argument] = command.registeredArguments;
    const name = argument === undefined ? [] : [argument.variadic ? `${argument.name()}s` : argument.name()];
    const given = { ...command.opts(), ...Object.fromEntries(name.map((one) => [one, command.processedArgs[0]])) };
    const run = await load();
    process.exitCode = await run(process.env, given as never);
  });
  return command;
}

function optionOf(option: DeclaredOption): Option {
  if (option instanceof Option) return option;
  const [flags, says, more] = option;
  const declared = new Option(flags, says);
  if (typeof more === 'function') return declared.argParser<never>(more as () => never);
  return typeof more === 'object' ? declared.choices(more) : declared.default(more);
}
