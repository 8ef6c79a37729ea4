import { Option, type Command } from 'commander';
import type { ExitCode } from './output/exit-codes.ts';

/** Heading of what people use every day. */
export const EVERY_DAY = 'Every day:';
/** Exit codes of a command that waits for batches. */
export const RUN_CODES = '0 all issued, 1 some are not, 2 file refused, 3 something needed cannot be reached, 64 usage';

/** Flags, what they mean, and the value without them, a parser, or the values that they take. */
export type DeclaredOption =
  | Option
  | readonly [
      flags: string,
      says: string,
      more?: string | boolean | readonly string[] | ((text: string, before: never) => unknown) | undefined,
    ];

/** A command as its help shows it. */
export interface Declared {
  /** Its name and its argument, such as `status [batch]`. */
  readonly usage: string;
  /** Of a command of `lote` itself: the heading that it stands under. */
  readonly group?: string;
  readonly says: string;
  readonly options?: readonly DeclaredOption[];
  /** A test holds each against the commands. */
  readonly examples?: readonly string[];
  /** Where they say more than 0 and not 0. */
  readonly exitCodes?: string;
  /** Loads the command when it is called, because a worker's packages alone take a second. What was typed is an object: options, and the argument by its name. */
  readonly load?: () => Promise<(env: NodeJS.ProcessEnv, given: never) => ExitCode | Promise<ExitCode>>;
  /** Of a command that only holds others. */
  readonly commands?: readonly Declared[];
}

/** A command that prints one JSON document on stdout when it is asked to. */
export const JSON_OPTION: DeclaredOption = ['--json', 'print one JSON document on stdout', false];

/** Adds a command, and the commands that it holds. */
export function declare(parent: Command, declared: Declared): void {
  const { usage, group, says, options = [], examples = [], exitCodes, load, commands = [] } = declared;
  const command = parent.command(usage).description(says);
  if (group !== undefined) command.helpGroup(group);
  for (const option of options) command.addOption(optionOf(option));
  const shown = examples.length === 0 ? [] : ['', 'Examples:', ...examples.map((example) => `  ${example}`)];
  const codes = exitCodes === undefined ? [] : ['', `Exit codes: ${exitCodes}`];
  command.addHelpText('after', [...shown, ...codes].join('\n')).showHelpAfterError('(--help shows what it takes)');
  for (const child of commands) declare(command, child);
  if (load === undefined) return;
  command.action(async () => {
    const [argument] = command.registeredArguments;
    const name = argument === undefined ? [] : [argument.variadic ? `${argument.name()}s` : argument.name()];
    const given = { ...command.opts(), ...Object.fromEntries(name.map((one) => [one, command.processedArgs[0]])) };
    const run = await load();
    process.exitCode = await run(process.env, given as never);
  });
}

function optionOf(option: DeclaredOption): Option {
  if (option instanceof Option) return option;
  const [flags, says, more] = option;
  const declared = new Option(flags, says);
  if (typeof more === 'function') return declared.argParser<never>(more as () => never);
  return typeof more === 'object' ? declared.choices(more) : declared.default(more);
}
